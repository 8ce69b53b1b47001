-- SPDX-License-Identifier: BSD-2-Clause
-- json.cfg and json.new: depth, precision, invalid numbers, sparse arrays.
local check = require('check')
json = require('json')
function deep(n) local t = {} for _ = 1, n do t = {t} end return t end
check [==[
j = json.new()
j ~= json
type(j.cfg), j.cfg.encode_max_depth, j.cfg.decode_max_depth, j.cfg.encode_number_precision
j.encode(deep(126)) ~= nil
j.encode(deep(140))
j.decode(('['):rep(127) .. (']'):rep(127)) ~= nil
j.decode(('['):rep(200) .. (']'):rep(200))
j.cfg{encode_max_depth = 2}
j.encode({{{}}})
j.encode({{{{}}}})
j.cfg{encode_deep_as_nil = true}
j.encode({{{1}}})
j.cfg{encode_number_precision = 3}
j.encode(1.23456789), j.encode(100000)
j.cfg{encode_invalid_numbers = false}
j.encode(0/0)
j.encode(1/0)
j.cfg{encode_invalid_as_nil = true}
j.encode(print)
j.cfg{decode_invalid_numbers = false}
j.decode('nan')
j.cfg{encode_sparse_convert = false}
j.encode({[100] = 1})
j.cfg{nonsense = 1}
j.cfg{decode_max_depth = 'x'}
j.cfg()
json.encode({{{{}}}})
json.encode({1.23456789}, {encode_number_precision = 3})
json.decode('[[1]]', {decode_max_depth = 1})
json.decode('[[1]]', {decode_max_depth = 2})
]==]
check.finish()
