-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `pwd`: users and groups of the system. Its functions yield. Manual: module pwd.
local ffi = require('ffi')
local C = require('internal.pwd')

-- Neither yield nor run Lua.
ffi.cdef[[
unsigned getuid(void);
unsigned getgid(void);
]]

local function check_id(id, what)
    if type(id) ~= 'string' and type(id) ~= 'number' then
        error(("Bad type of %s (expected 'string'/'number')"):format(what), 3)
    end
end

local pwd = {}

-- The group of the name or number, of the process where none is given; nil where there is none.
function pwd.getgr(id)
    if id == nil then
        id = ffi.C.getgid()
    end
    check_id(id, 'gid')
    local name, gid, members = C.group(id)
    if name == nil then
        return nil
    end
    return {name = name, id = gid, members = members}
end

-- The user, likewise, with its group.
function pwd.getpw(id)
    if id == nil then
        id = ffi.C.getuid()
    end
    check_id(id, 'uid')
    local name, uid, gid, home, shell = C.user(id)
    if name == nil then
        return nil
    end
    return {name = name, id = uid, group = pwd.getgr(gid), workdir = home, shell = shell}
end

local function all_of(names, get)
    local all = {}
    for _, name in ipairs(names) do
        all[#all + 1] = get(name)
    end
    return all
end

function pwd.getpwall()
    return all_of(C.users(), pwd.getpw)
end

function pwd.getgrall()
    return all_of(C.groups(), pwd.getgr)
end

return pwd
