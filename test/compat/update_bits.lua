-- SPDX-License-Identifier: BSD-2-Clause
-- update with & | ^ : unsigned only.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s')
s:create_index('pk')
function up(v, ...)
    s:replace{1, v}
    return s:update(1, {...})
end
check [[
up(12, {'&', 2, 10})
up(12, {'|', 2, 10})
up(12, {'^', 2, 10})
up(18446744073709551615ULL, {'&', 2, 255})
up(0, {'|', 2, 18446744073709551615ULL})
up(18446744073709551615ULL, {'^', 2, 18446744073709551615ULL})
up(5, {'&', 2, -1})
up(-5, {'&', 2, 1})
up(5.5, {'|', 2, 1})
up(5, {'|', 2, 1.5})
up('x', {'^', 2, 1})
up(5, {'^', 2, 'x'})
up(5, {'&', 3, 1})
up(12, {'&', 2, 10}, {'|', 2, 1})
up(12, {'&', 2, 10}, {'+', 2, 1})
up(12, {'&', -1, 10})
]]
check.finish()
