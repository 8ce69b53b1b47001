-- SPDX-License-Identifier: BSD-2-Clause
-- help and tutorial: what the pages say to type works.
local tap = require('tap')
local help = require('help')

local test = tap.test('help')
test:plan(14)
test:is(#help.help(), 2, 'help')
test:is(tutorial(), help.tutorial(1), 'the first page')
test:ok(tutorial('next'):match('^2'), 'the next')
test:ok(tutorial('prev'):match('^1'), 'the one before')
test:ok(tutorial('prev'):match('^1'), 'which ends at the first')
test:ok(tutorial(6):match('^6') and tutorial('next'):match('^6'), 'or at the last')
test:ok(not pcall(tutorial, 7) and not pcall(tutorial, 'nowhere'), 'no such page')

-- Each indented line is a statement or an expression, as in the console.
local function run(line)
    local f = loadstring('return ' .. line) or loadstring(line)
    if f == nil then
        return false, line .. ': does not compile'
    end
    return pcall(f)
end

for i = 1, 6 do
    local problem
    for line in tutorial(i):gmatch('\n    ([^\n]+)') do
        line = line:gsub('box.cfg{}', "box.cfg{log = 'log'}"):gsub('127.0.0.1:3301', 'unix/:./tutorial')
        local ok, err = run(line)
        if not ok and problem == nil then
            problem = line .. ': ' .. tostring(err)
        end
    end
    test:is(problem, nil, ('page %d'):format(i))
end
test:is(box.space.books:count(), 3, 'what is left of it')
os.exit(test:check() and 0 or 1)
