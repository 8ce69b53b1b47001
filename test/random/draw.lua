-- SPDX-License-Identifier: BSD-2-Clause
-- Random numbers that are the same for a seed in both programs.
local draw = {}

local state = 1

-- A stream of its own for each seed from 1 on.
function draw.start(seed)
    state = (seed * 7919 + 104729) % 2147483646 + 1
    for _ = 1, 5 do
        draw.random(2)
    end
end

-- An integer from 0 to n - 1.
function draw.random(n)
    -- The minimal standard generator: products stay below 2^53.
    state = state * 16807 % 2147483647
    return math.floor(state / 2147483647 * n)
end

-- True in so many cases of a hundred.
function draw.chance(percent)
    return draw.random(100) < percent
end

function draw.pick(list)
    return list[1 + draw.random(#list)]
end

return draw
