-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `tarn`: what only this server has, in one place. The same functions are where an
-- application written for it may expect them: in box.stat and box.slab.
local api = require('tarn.box.api')
local console = require('tarn.console')

local tarn = {
    -- Of the program; _TARANTOOL and box.info.version begin with `compatible`.
    version = console.version,
    compatible = _TARANTOOL:match('^[%d.]+'),
    -- What was built: the commit, with a '+' where the sources differed from it; '' where it is unknown.
    commit = console.commit,
    stat = {
        procedures = api.stat.procedures,
        memory = api.stat.memory,
        lua = api.stat.lua,
    },
}

-- Checks the structure of all indexes; raises where one is damaged.
function tarn.check()
    return api.slab.check()
end

return tarn
