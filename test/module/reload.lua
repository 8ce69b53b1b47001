-- SPDX-License-Identifier: BSD-2-Clause
-- box.schema.func.reload: libraries of C procedures are loaded anew.
local tap = require('tap')
local fiber = require('fiber')
local fio = require('fio')

local test = tap.test('module_reload')
test:plan(16)

box.cfg{work_dir = fio.tempdir(), log_level = 0, wal_mode = 'none'}
local dir = fio.tempdir()
package.cpath = dir .. '/?.so'

-- Puts a version's file (or, without one, junk) in place, over the bytes of the one before.
local function install(number)
    local data = 'junk'
    if number ~= nil then
        local path = ('%s/version%d.so'):format(os.getenv('VERSION_MODULES'), number)
        local f = io.open(path, 'rb')
        data = f:read('*a')
        f:close()
    end
    local f = io.open(dir .. '/lib.so', 'wb')
    f:write(data)
    f:close()
end

local function reload(name)
    local ok, e = pcall(box.schema.func.reload, name)
    return ok or e.code
end

local function call(name)
    return box.func['lib.' .. name]:call()
end

install(1)
for _, name in ipairs({'version', 'nap'}) do
    box.schema.func.create('lib.' .. name, {language = 'C'})
end
test:is(reload('lib'), box.error.NO_SUCH_MODULE, 'a library that is not loaded yet')
test:is(call('version'), 1, 'is loaded at the first call')
install(2)
test:is(call('version'), 1, 'stays, though its file has another content')

local old
local sleeper = fiber.new(function() old = call('nap') end)
sleeper:set_joinable(true)
fiber.yield()
test:is(reload('lib'), true, 'reload')
test:is(call('version'), 2, 'the new version')
test:is(call('nap'), 2, 'of each function')
sleeper:join()
test:is(old, 1, 'a call that ran meanwhile ends in the old one')

install(3)
test:is(reload('lib'), box.error.LOAD_FUNCTION, 'a version that lacks a function')
test:is(call('version'), 2, 'leaves all as it was')
install()
test:is(reload('lib'), box.error.LOAD_MODULE, 'a file that is no library')
test:is(call('version'), 2, 'leaves all as it was, too')
os.remove(dir .. '/lib.so')
test:is(reload('lib'), box.error.LOAD_MODULE, 'no file')

install(1)
for _ = 1, 200 do
    box.schema.func.reload('lib')
    call('version')
end
local fds = fio.listdir('/proc/self/fd')
test:ok(fds == nil or #fds < 100, 'old versions are given back')
test:is(call('version'), 1, 'after many reloads')

box.schema.func.drop('lib.version')
sleeper = fiber.new(call, 'nap')
sleeper:set_joinable(true)
fiber.yield()
box.schema.func.drop('lib.nap')
test:is(sleeper:join(), true, 'a procedure is dropped while it runs')
test:is(reload('lib'), box.error.NO_SUCH_MODULE, 'and its library with it')

fio.rmtree(dir)
os.exit(test:check() and 0 or 1)
