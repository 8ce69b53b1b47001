-- SPDX-License-Identifier: BSD-2-Clause
-- The values of box.cfg after a plain box.cfg{}.
local check = require('check')
box.cfg{}
local names = {}
for k in pairs(box.cfg) do table.insert(names, k) end
table.sort(names)
for _, k in ipairs(names) do
    check.values(k, box.cfg[k])
end
check.finish()
