-- SPDX-License-Identifier: BSD-2-Clause
-- The module `xlog`: the rows of a journal or snapshot.
--
--     for lsn, row in xlog.pairs('00000000000000000000.xlog') do
--         print(row.HEADER.type, row.BODY.space_id)
--     end
local c = require('tarn.xlog')
local fun = require('fun')

local function step(cursor)
    return c.next(cursor)
end

local function xlog_pairs(path)
    if type(path) ~= 'string' and type(path) ~= 'number' then
        error('Usage: parser.open(log_filename)', 2)
    end
    return fun.wrap(step, c.open(tostring(path)), 0)
end

return {pairs = xlog_pairs}
