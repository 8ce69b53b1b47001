-- SPDX-License-Identifier: BSD-2-Clause
-- Statements inside triggers, what fails there, and savepoints that are not of here.
local check = require('check')
box.cfg{log_level = 2}
s = box.schema.space.create('s')
s:create_index('pk')
s2 = box.schema.space.create('s2')
s2:create_index('pk')
-- Sets the only trigger of a space, or takes it away.
function on(f)
    for _, old in ipairs(s:on_replace()) do s:on_replace(nil, old) end
    if f ~= nil then s:on_replace(f) end
end
check [[
box.begin() s:insert{1} sv = box.savepoint() s:insert{2} box.schema.space.create('x')
box.rollback_to_savepoint(sv)
box.commit()
s:select{}, box.space.x == nil
box.begin() sv = box.savepoint() box.space._schema:insert{'key', 1} s2:truncate()
box.rollback_to_savepoint(sv)
box.commit()
box.space._schema:get{'key'}
on(function(o, n) if n and n[1] == 10 then s2:insert{1} error('x') end end)
box.begin() s2:insert{5}
s:insert{10}
s2:select{}, s:select{}
box.commit()
s2:select{}
on(function() box.commit() end)
s:insert{11}
on(function() box.rollback() end)
s:insert{11}
on(function() box.begin() end)
s:insert{11}
on(function() sv = box.savepoint() s2:insert{77} box.rollback_to_savepoint(sv) end)
s:insert{11}
s2:select{}
on(function() sv = box.savepoint() s2:insert{78} end)
box.begin() s:insert{12}
box.rollback_to_savepoint(sv)
box.rollback()
s2:select{}
on()
box.begin() sv = box.savepoint()
on(function() box.rollback_to_savepoint(sv) end)
s:insert{13}
s:select{}
box.rollback()
on()
s:select{}
box.begin() sv = box.savepoint()
box.rollback_to_savepoint{csavepoint = sv.csavepoint}
box.rollback_to_savepoint{csavepoint = sv.csavepoint, txn_id = 5}
box.rollback_to_savepoint{csavepoint = 1, txn_id = 5}
box.rollback_to_savepoint{1}
box.rollback()
box.rollback_to_savepoint(sv)
box.rollback_to_savepoint(1)
box.begin()
box.rollback_to_savepoint(sv)
a = box.savepoint() s:insert{20} b = box.savepoint() s:insert{21} c = box.savepoint()
box.rollback_to_savepoint(a)
box.rollback_to_savepoint(b)
box.rollback_to_savepoint(c)
s:insert{22} d = box.savepoint() s:insert{23}
box.rollback_to_savepoint(d)
box.rollback_to_savepoint(a)
box.commit()
s:select{}
on(function(o, n) if n[1] < 5 then s:replace{n[1] + 1} end end)
s:replace{1}
s:select{}
s:replace{2}
on()
box.begin() s:insert{30} pcall(s.insert, s, {30}) pcall(s.insert, s, {'x'}) s:insert{31}
box.commit()
s:select{}
box.atomic(function() box.commit() return 5 end)
box.atomic(function() box.rollback() return 5 end)
box.atomic(function() box.commit() error('x') end)
box.is_in_txn()
]]
check.finish()
