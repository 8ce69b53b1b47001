-- SPDX-License-Identifier: BSD-2-Clause
-- Every function of the modules with arguments that it was not made for: what the reference takes is taken, with
-- the same value, and what it refuses is refused. Texts of errors that only name a local variable are left out.
local check = require('check')

-- Not called: what waits, changes the process or never gives the same; functions of later versions; what ends or
-- hangs the reference; where it takes what is refused here, and what depends on the place of a stack's values.
local left_out = {}
for name in ([[
    uuid.new uuid.str uuid.bin uuid.is_uuid uri.escape uri.unescape uri.parse_many uri.parse digest.urandom digest.md4
    digest.md4_hex digest.guava digest.crc32_update digest.murmur string.dump string.strip string.lstrip string.rstrip
    table.equals table.new csv.dump csv.iterate csv.load json.new yaml.new key_def.new
    key_def.compare key_def.compare_with_key key_def.extract_key key_def.merge key_def.totable key_def.compare_keys
    key_def.validate_key key_def.validate_full_key key_def.validate_tuple
    string.rep
]]):gmatch('%S+') do
    left_out[name] = true
end

local lists = {
    {}, {n = 1}, {5}, {-1}, {true}, {{}}, {'x\0y'}, {box.NULL}, {function() end}, {'', {}}, {'x', 'y'}, {{}, {}},
    {1e300}, {0 / 0}, {'\255\254', 1}, {('x'):rep(3000)}, {'x', -1}, {'x', 1e18},
}

local function outcome(ok, value, second)
    if not ok then
        return 'error'
    elseif type(value) == 'table' or type(value) == 'function' or type(value) == 'userdata' then
        return 'a value'
    elseif type(value) == 'string' and #value > 100 then
        return ('%d bytes, sum %d'):format(#value, require('digest').crc32(value))
    end
    return check.show(value) .. (type(second) == 'string' and ', ' .. second or '')
end

for name in ('decimal digest iconv json pickle string table utf8 uuid yaml'):gmatch('%S+') do
    local module = require(name)
    local functions = {}
    for key, f in pairs(module) do
        if type(f) == 'function' and type(key) == 'string' and key:match('^%l') and not left_out[name .. '.' .. key]
           and not key:match('_ffi$') and not key:match('_luac$') then
            table.insert(functions, key)
        end
    end
    table.sort(functions)
    for _, key in ipairs(functions) do
        local out = {}
        for i, list in ipairs(lists) do
            out[i] = outcome(pcall(module[key], unpack(list, 1, list.n or #list)))
        end
        check.values(name .. '.' .. key, unpack(out))
    end
end

check [[
fio = require('fio')
fh = fio.open('closed', {'O_RDWR', 'O_CREAT'}, 420)
fh:close()
fh:read(1)
fh:write('x')
fh:pread(1, 0)
fh:pwrite('x', 0)
fh:truncate(0)
fh:fsync()
fh:fdatasync()
fh:stat()
fh:close()
s = require('socket')('AF_INET', 'SOCK_STREAM', 'tcp')
s:close()
s:close()
s:read(1)
s:write("x")
s:listen()
fio.copytree("nodir", "y")
fio.copytree("", "y")
]]
check.finish()
