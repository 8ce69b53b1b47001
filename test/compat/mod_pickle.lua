-- SPDX-License-Identifier: BSD-2-Clause
-- pickle: every letter with good and bad values.
local check = require('check')
pickle = require('pickle')
local values = {1, 0, -1, 255, 256, 65536, 2^31, 2^32, 2^53, 1.5, '7', 'abc', '', 5LL, 18446744073709551615ULL,
                -2^63, 2^64, 1e300, 0/0, 1/0, true, {}}
for letter in ('bBsSiIlLnNqQfdaAFDwWpP=U x'):gmatch('.') do
    for i, value in ipairs(values) do
        if not ((letter == 'a' or letter == 'A') and type(value) == 'cdata') then
            check.call(('pack %s %d'):format(letter, i), pickle.pack, letter, value)
        end
    end
    check.call('pack ' .. letter, pickle.pack, letter)
    for _, size in ipairs({0, 1, 2, 3, 4, 7, 8, 9}) do
        check.call(('unpack %s %d'):format(letter, size), pickle.unpack, letter, ('\1\254\3\4\5\6\127\200\9'):sub(1, size))
    end
end
check [[
pickle.pack('bsA', 1, 2, 'abc'), pickle.pack('b', 1, 2), pickle.pack('')
pickle.pack('bb', 1)
pickle.pack()
pickle.pack(1, 2)
pickle.pack(nil)
pickle.unpack()
pickle.unpack('b')
pickle.unpack('b', 1)
pickle.unpack('', '')
pickle.unpack('', 'a')
pickle.unpack('bs', 'ab')
pickle.unpack('bs', 'abcdef')
pickle.unpack('aA', 'ab')
pickle.unpack('nNq', '\0\1\0\0\0\1\0\0\0\0\0\0\0\1')
pickle.unpack('bsilnNqfd', pickle.pack('bsilnNqfd', 1, 2, 3, 4, 5, 6, 7, 1.5, -2.25))
]]
check.finish()
