-- SPDX-License-Identifier: BSD-2-Clause
-- The server of border.py: procedures good and bad. arg[1]: what to listen on.
local fiber = require('fiber')

box.cfg{listen = arg[1], log_level = 2, wal_mode = 'none'}
box.schema.user.grant('guest', 'super')

local s = box.schema.space.create('test')
s:create_index('primary')
for i = 1, 20 do
    s:insert{i, 'row ' .. i}
end

function empty() end
function echo(...) return ... end
function fails() error('on purpose') end
function stat(name) return box.stat.procedures()[name] end

-- 3 reads of 1, a select of 5, 2 changes, 1 that fails.
function rows()
    for i = 1, 3 do s:get(i) end
    s:get(1000)
    s:select({}, {limit = 5})
    s:replace{1, 'row 1'}
    s:update(2, {{'=', 2, 'row 2'}})
    pcall(s.insert, s, {1, 'again'})
end

function yields(n)
    for _ = 1, n do fiber.sleep(0.001) end
end

print('ready')
io.stdout:flush()
