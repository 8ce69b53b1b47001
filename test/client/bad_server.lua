-- SPDX-License-Identifier: BSD-2-Clause
-- The server of bad.py: procedures that misbehave. arg[1]: what to listen on.
local fiber = require('fiber')
local ffi = require('ffi')

box.cfg{listen = arg[1], log_level = 0, wal_mode = 'none', memtx_memory = 64 * 1024 * 1024}
box.schema.user.grant('guest', 'super')
local s = box.schema.space.create('test')
s:create_index('primary')
s:insert{1, 'one'}

-- Once: a type of C, once declared, is there for good.
local struct_t = ffi.typeof('struct {int a;}')

function ok(...) return ... end

-- Errors of every type.
bad = {}
function bad.nothing() error() end
function bad.null() error(box.NULL) end
function bad.text() error('text', 0) end
function bad.zeros() error('a\0b', 0) end
function bad.number() error(42) end
function bad.boolean() error(false) end
function bad.table() error({1, 2}) end
function bad.func() error(print) end
function bad.thread() error(coroutine.create(print)) end
function bad.userdata() error(newproxy()) end
function bad.cdata() error(1ULL) end
function bad.struct() error(struct_t()) end
function bad.box_error() box.error(box.error.UNSUPPORTED, 'this', 'that') end
function bad.own_text() error(setmetatable({}, {__tostring = function() return 'my text' end})) end
function bad.no_text() error(setmetatable({}, {__tostring = function() error('no text') end})) end
function bad.odd_text() error(setmetatable({}, {__tostring = function() return {} end})) end
function bad.long_text() error(('x'):rep(1000000), 0) end
function bad.tuple() error(box.tuple.new{1}) end
function bad.code(code) box.error{code = code, reason = 'r'} end

-- Results that have no form.
function bad.returns_func() return 1, print end
function bad.returns_thread() return coroutine.create(print) end
function bad.returns_userdata() return newproxy() end
function bad.returns_pointer() return ffi.cast('void *', 1) end
function bad.returns_struct() return struct_t() end
function bad.returns_func_inside() return {1, {2, {print}}} end
function bad.returns_func_key() return {[print] = 1} end
function bad.returns_table_key() return {[{}] = 1} end
function bad.returns_cycle() local t = {} t.t = t return t end
function bad.returns_serialize_error()
    return setmetatable({}, {__serialize = function() error('in __serialize', 0) end})
end
function bad.returns_serialize_word() return setmetatable({}, {__serialize = 'nonsense'}) end
function bad.returns_serialize_self()
    local t = {} return setmetatable(t, {__serialize = function() return t end})
end
function bad.returns_sparse() return {[1] = 1, [1000000] = 2} end

function bad.deep(n) local t = {} for i = 1, n do t = {t} end return t end
function bad.string(n) return ('x'):rep(n) end
function bad.values(n) local t = {} for i = 1, n do t[i] = i end return unpack(t, 1, n) end
function bad.recursion() return 1 + bad.recursion() end
function bad.pcall_recursion() return pcall(bad.pcall_recursion), 1 end

-- Control flow that goes wrong.
function bad.yields_outside() coroutine.yield(1) end
function bad.cancels_itself() fiber.self():cancel() fiber.testcancel() end
function bad.sleeps() victim = fiber.self() fiber.sleep(60) return 'slept' end
function bad.kills() while victim == nil do fiber.sleep(0.001) end victim:cancel() victim = nil end
function bad.redefines()
    bad.redefines_to = function() return 'new' end
    local old = bad.redefined
    bad.redefined = bad.redefines_to
    collectgarbage()
    return 'old', old == nil
end
function bad.transaction() box.begin() s:replace{2, 'two'} end
function bad.transaction_error() box.begin() s:replace{2, 'two'} error('in transaction', 0) end
function bad.yields_in_transaction() box.begin() s:replace{2, 'two'} fiber.yield() box.commit() end
function bad.changes_environment() setfenv(1, {}) return x end
function bad.hooks() debug.sethook(function() end, '', 1) return 1 end

print('ready')
io.stdout:flush()
