-- SPDX-License-Identifier: BSD-2-Clause
-- box.ctl: the stages of the start, and what the start tells in box.info.recovery.
local tap = require('tap')
local test = tap.test('ctl')
test:plan(6)
local states = {}
local old = box.ctl.on_recovery_state(function() error('never called') end)
box.ctl.on_recovery_state(function(state) table.insert(states, state) end, old)
test:ok(not box.ctl.is_recovery_finished(), 'not yet')
box.cfg{log_level = 2}
test:ok(box.ctl.is_recovery_finished(), 'finished')
test:is_deeply(states, {'snapshot_recovered', 'wal_recovered', 'indexes_built', 'synced'})
test:is_deeply(box.info.recovery, {
    dropped_bytes = 0, dropped_transactions = 0,
    skipped_bytes = 0, skipped_rows = 0, skipped_files = 0,
}, 'nothing was lost')
test:ok(not pcall(box.ctl.set_on_shutdown_timeout, -1))
box.ctl.set_on_shutdown_timeout(0.01)
-- One that takes too long does not hold the process up: the test would never end.
box.ctl.on_shutdown(function() require('fiber').sleep(1000) end)
test:ok(pcall(box.ctl.set_on_shutdown_timeout, 0.01))
os.exit(test:check() and 0 or 1)
