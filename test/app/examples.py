# SPDX-License-Identifier: BSD-2-Clause
"""The examples of docs/modules do what they say: examples.py TARN

The ```lua blocks of a page are one script. In it `expression --> values` is a claim: the expression is
evaluated, and what it gives must be shown as it stands there. A page marked <!-- server --> runs
with box.cfg{} done.
"""
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import process

TARN = process.program(sys.argv[1])
PAGES = os.path.join(process.ROOT, 'docs', 'modules')

PRELUDE = r'''
FAILED, CLAIMS = false, 0
local function show_table(t)
    local json = require('json')
    local keys, out = {}, {}
    for k in pairs(t) do
        table.insert(keys, k)
    end
    table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
    for i, k in ipairs(keys) do
        local v = type(t[k]) == 'table' and show_table(t[k]) or json.encode(t[k])
        out[i] = #t == #keys and v or json.encode(tostring(k)) .. ':' .. v
    end
    return #t == #keys and '[' .. table.concat(out, ',') .. ']' or '{' .. table.concat(out, ',') .. '}'
end
local function show(v)
    if type(v) == 'string' then
        local quote = v:find("'", 1, true) and '"' or "'"
        return quote .. v:gsub('[%c\127-\255]', function(c) return ('\\%d'):format(c:byte()) end) .. quote
    elseif type(v) == 'table' then
        return show_table(v)
    elseif type(v) == 'number' then
        return ('%.14g'):format(v)
    elseif type(v) == 'cdata' and v == nil then
        return 'null'
    end
    return tostring(v)
end
function CLAIM(line, expected, ...)
    local shown = {}
    for i = 1, select('#', ...) do
        shown[i] = show((select(i, ...)))
    end
    local got = table.concat(shown, ', ')
    if got ~= expected then
        print(('line %d: %s, not %s'):format(line, got, expected))
        FAILED = true
    end
    CLAIMS = CLAIMS + 1
end
function ERROR_OF(...)
    local ok, err = pcall(...)
    return ok and 'no error' or (tostring(err):gsub('^[^:]+:%d+: ', ''))
end
'''


def script(text):
    """The page's Lua, with each line where it stands in the page."""
    out, inside = [], False
    for number, line in enumerate(text.split('\n'), 1):
        if line.startswith('```'):
            inside = line == '```lua'
            out.append('')
        elif not inside:
            out.append('')
        elif ' --> ' in line:
            expression, expected = line.split(' --> ', 1)
            out.append(f'CLAIM({number}, [==[{expected.strip()}]==], {expression.strip()})')
        else:
            out.append(line)
    return '\n'.join(out)


class Pages(unittest.TestCase):
    def check(self, name):
        with open(os.path.join(PAGES, name), encoding='utf-8') as f:
            text = f.read()
        head = PRELUDE.replace('\n', ' ')
        if '<!-- server -->' in text:
            head += " box.cfg{log = 'log'}"
        body = head + ' ' + script(text) + '\nos.exit((not FAILED and CLAIMS > 0) and 0 or 1)\n'
        status, out, err = process.run([TARN, '-'], 20, cwd=process.temp_dir(), input=body)
        self.assertEqual(status, 0, f'{name}: {out}{err[-2000:]}')


for page in sorted(os.listdir(PAGES)):
    if page.endswith('.md') and page != 'index.md':
        setattr(Pages, 'test_' + re.sub(r'\W', '_', page[:-3]), lambda self, page=page: self.check(page))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
