-- SPDX-License-Identifier: BSD-2-Clause
-- update by field name.
local check = require('check')
box.cfg{}
s = box.schema.space.create('s', {format = {{'id', 'unsigned'}, {'name', 'string'}, {'n', 'integer'}, {'opt', 'string', is_nullable = true}}})
s:create_index('pk')
function up(...)
    s:replace{1, 'bob', 10, 'opt', 'fifth'}
    return s:update(1, {...})
end
check [[
up({'=', 'name', 'ann'})
up({'+', 'n', 5})
up({'-', 'n', 5})
up({':', 'name', 1, 1, 'r'})
up({'=', 'opt', box.NULL})
up({'#', 'opt', 1})
up({'#', 'opt', 2})
up({'!', 'opt', 'x'})
up({'=', 'nosuch', 1})
up({'+', 'nosuch', 1})
up({'=', '', 1})
up({'=', 'name', 'x'}, {'+', 'n', 1}, {'=', 5, 'y'})
up({'=', 'name', 5})
up({'=', 'id', 5})
up({'=', '[2]', 'by path'})
up({'=', 'nosuch.deeper', 1})
s:upsert({1, 'x', 1}, {{'+', 'n', 100}})
s:get(1)
s:upsert({1, 'x', 1}, {{'+', 'nosuch', 100}})
s:get(1)
]]
check.finish()
