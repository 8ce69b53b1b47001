-- SPDX-License-Identifier: BSD-2-Clause
-- The options of box.cfg{}: type, default, and a check that needs no running
-- instance. What a change does is in cfg.lua.
local c = require('tarn.cfg')
local c_user = require('tarn.user')
local txn = require('tarn.box.txn')
local listen = require('tarn.box.listen')
local log_cfg = require('internal.log_cfg')
local box = require('box')

local M = {}

local function wrong(name, format, ...)
    box.error(box.error.CFG, name, format:format(...))
end
M.wrong = wrong

-- name = {types, default}
M.options = {
    background = {'boolean', false},
    checkpoint_count = {'number', 2},
    checkpoint_interval = {'number', 3600},
    checkpoint_wal_threshold = {'number', 1e18},
    coredump = {'boolean', false},
    custom_proc_title = {'string'},
    feedback_enabled = {'boolean', true},
    feedback_host = {'string', 'https://feedback.tarantool.io'},
    feedback_interval = {'number', 3600},
    force_recovery = {'boolean', false},
    hot_standby = {'boolean', false},
    instance_uuid = {'string'},
    io_busy_poll = {'number'},
    io_collect_interval = {'number'},
    listen = {'string, number, table'},
    log = {'string'},
    log_format = {'any', 'plain'},
    log_level = {'any', 5},
    log_nonblock = {'any'},
    lua_memory = {'number'},
    memtx_dir = {'string', '.'},
    memtx_max_tuple_size = {'number', 1024 * 1024},
    memtx_memory = {'number', 256 * 1024 * 1024},
    memtx_min_tuple_size = {'number', 16},
    net_msg_max = {'number', 768},
    pid_file = {'string'},
    read_only = {'boolean', false},
    readahead = {'number', 16320},
    replicaset_uuid = {'string'},
    replication = {'string, number, table'},
    replication_anon = {'boolean', false},
    replication_connect_quorum = {'number'},
    replication_connect_timeout = {'number', 30},
    replication_skip_conflict = {'boolean', false},
    replication_sync_lag = {'number', 10},
    replication_sync_timeout = {'number', 300},
    replication_synchro_quorum = {'number', 1},
    replication_synchro_timeout = {'number', 5},
    replication_timeout = {'number', 1},
    slab_alloc_factor = {'number', 1.05},
    snap_io_rate_limit = {'number'},
    sql_cache_size = {'number', 5 * 1024 * 1024},
    strip_core = {'boolean', true},
    too_long_threshold = {'number', 0.5},
    username = {'string'},
    vinyl_bloom_fpr = {'number', 0.05},
    vinyl_cache = {'number', 128 * 1024 * 1024},
    vinyl_dir = {'string', '.'},
    vinyl_max_tuple_size = {'number', 1024 * 1024},
    vinyl_memory = {'number', 128 * 1024 * 1024},
    vinyl_page_size = {'number', 8 * 1024},
    vinyl_range_size = {'number'},
    vinyl_read_threads = {'number', 1},
    vinyl_run_count_per_level = {'number', 2},
    vinyl_run_size_ratio = {'number', 3.5},
    vinyl_timeout = {'number', 60},
    vinyl_write_threads = {'number', 4},
    wal_dir = {'string', '.'},
    wal_dir_rescan_delay = {'number', 2},
    wal_max_size = {'number', 256 * 1024 * 1024},
    wal_mode = {'string', 'write'},
    work_dir = {'string'},
    worker_pool_threads = {'number', 4},
    -- Of later versions; some are accepted only where they ask for what this server does
    -- anyway.
    auth_delay = {'number'},
    auth_retries = {'number'},
    auth_type = {'string'},
    disable_guest = {'boolean'},
    election_mode = {'string'},
    iproto_threads = {'number'},
    log_modules = {'table'},
    memtx_use_mvcc_engine = {'boolean'},
    password_enforce_digits = {'boolean'},
    password_enforce_lowercase = {'boolean'},
    password_enforce_specialchars = {'boolean'},
    password_enforce_uppercase = {'boolean'},
    password_history_length = {'number'},
    password_lifetime_days = {'number'},
    password_min_length = {'number'},
    slab_alloc_granularity = {'number'},
    txn_isolation = {'string, number'},
    txn_timeout = {'number'},
    wal_cleanup_delay = {'number'},
    wal_queue_max_size = {'number'},
}

-- Old names: the new one, and what the value is multiplied with.
M.renamed = {
    logger = {'log'}, logger_nonblock = {'log_nonblock'}, snap_dir = {'memtx_dir'},
    slab_alloc_arena = {'memtx_memory', 1024 * 1024 * 1024},
    slab_alloc_minimal = {'memtx_min_tuple_size'},
    slab_alloc_maximal = {'memtx_max_tuple_size'},
    snapshot_count = {'checkpoint_count'}, snapshot_period = {'checkpoint_interval'},
    replication_source = {'replication'}, panic_on_wal_error = {'force_recovery', 'not'},
    panic_on_snap_error = {'force_recovery', 'not'},
}

local function at_least(limit, text)
    return function(name, value)
        if value < limit then
            wrong(name, text)
        end
    end
end

local function above_zero(text)
    return function(name, value)
        if value <= 0 then
            wrong(name, text)
        end
    end
end

local function only(accepted, text)
    return function(name, value)
        if not accepted[value] then
            wrong(name, text)
        end
    end
end

local function check_uuid(name, value)
    if not c.is_uuid(value) then
        wrong(name, '%s', value)
    end
end

local function check_threads(name, value)
    if value < 1 then
        wrong(name, 'must be greater than or equal to 1')
    end
end

local checks = {
    checkpoint_count = at_least(1, 'the value must not be less than one'),
    wal_max_size = at_least(1, 'the value must be greater than one'),
    replication_timeout = above_zero('the value must be greather than 0'),
    replication_connect_timeout = above_zero('the value must be greather than 0'),
    replication_sync_lag = above_zero('the value must be greater than 0'),
    replication_sync_timeout = above_zero('the value must be greater than 0'),
    replication_synchro_timeout = above_zero('the value must be greater than zero'),
    replication_connect_quorum = at_least(0, 'the value must be greater or equal to 0'),
    wal_queue_max_size = at_least(0, 'wal_queue_max_size must be >= 0'),
    wal_cleanup_delay = at_least(0, 'the value must be >= 0'),
    sql_cache_size = at_least(0, 'must be non-negative'),
    vinyl_read_threads = check_threads,
    txn_timeout = above_zero('the value must be greater than 0'),
    instance_uuid = check_uuid, replicaset_uuid = check_uuid,
    background = only({[false] = true},
                      'not supported: let a service manager run it, or setsid(1)'),
    memtx_use_mvcc_engine = only({[false] = true}, 'not supported'),
    election_mode = only({off = true}, "only 'off' is supported"),
}

function checks.auth_type(name, value)
    if not c_user.is_auth_method(value) then
        wrong(name, "must be one of 'chap-sha1', 'pap-sha256'")
    end
end

for _, name in ipairs{'auth_delay', 'auth_retries', 'password_history_length',
                      'password_lifetime_days', 'password_min_length'} do
    checks[name] = at_least(0, 'must be greater than or equal to 0')
end

function checks.memtx_memory(name, value)
    if value < 0 or value > 4398046510080 then
        wrong(name, 'must be >= 0 and <= 4398046510080, but it is %s', tostring(value))
    end
end

-- 0 and box.NULL: no limit. Whether it is enough is found out when it is set.
function checks.lua_memory(name, value)
    if value < 0 or value > 4398046510080 then
        wrong(name, 'must be >= 0 and <= 4398046510080, but it is %s', tostring(value))
    end
end

function checks.txn_isolation(name, value)
    if value == 'default' or value == 0 or not txn.is_isolation_level(value) then
        wrong(name, 'must be one of box.txn_isolation_level (keys or values)')
    end
end

function checks.memtx_min_tuple_size(name, value)
    if value < 8 or value > 1024 * 1024 then
        wrong(name, 'specified value is out of bounds')
    end
end

function checks.readahead(name, value)
    if value < 128 or value > 2147483647 then
        wrong(name, 'specified value is out of bounds')
    end
end

function checks.replication_synchro_quorum(name, value)
    if value < 1 or value >= 32 then
        wrong(name, 'the value must be greater than zero and less than maximal number ' ..
              'of replicas')
    end
end

function checks.vinyl_bloom_fpr(name, value)
    if value <= 0 or value > 1 then
        wrong(name, 'must be greater than 0 and less than or equal to 1')
    end
end

function checks.vinyl_page_size(name, value, all)
    if value <= 0 or all.vinyl_range_size ~= nil and value > all.vinyl_range_size then
        wrong(name, 'must be greater than 0 and less than or equal to vinyl_range_size')
    end
end

function checks.wal_mode(name, value)
    if not ({none = 1, write = 1, fsync = 1})[value] then
        wrong(name, '%s', value)
    end
end

function checks.log_format(name, value)
    local problem = log_cfg.check_format(value)
    if problem ~= nil then
        wrong(name, problem)
    end
end

function checks.log_modules(name, value)
    local problem = log_cfg.check_modules(value)
    if problem ~= nil then
        wrong(name, problem)
    end
end

function checks.log_nonblock(name, value, all)
    if value and not log_cfg.can_be_nonblock(all.log) then
        wrong(name, 'the option is incompatible with file/stderr logger')
    end
end

function checks.listen(name, value)
    local _, problem = listen.parse(value)
    if problem ~= nil then
        wrong(name, problem)
    end
end

local LOCAL = {localhost = true, ['127.0.0.1'] = true, ['::1'] = true}
local ANY = {['0.0.0.0'] = true, ['::'] = true, ['*'] = true}

-- Does the URI lead to an address that this server listens on? A replica set of one lists that.
local function is_own_uri(text, listened)
    local uri = require('uri')
    local target = uri.parse(text) or {}
    for _, one in ipairs(listened ~= nil and listen.parse(listened) or {}) do
        local own = uri.parse(one.text:match('^[^?]*')) or {}
        local is_host = own.host == target.host or (own.host == nil or ANY[own.host] or LOCAL[own.host])
                        and LOCAL[target.host or 'localhost']
        if own.service ~= nil and own.service == target.service and is_host then
            return true
        end
    end
    return false
end

function checks.replication(name, value, all)
    for _, uri in ipairs(type(value) == 'table' and value or {value}) do
        if uri ~= '' and not c.is_uri(tostring(uri)) then
            wrong(name, 'expected host:service or /unix.socket')
        elseif uri ~= '' and not is_own_uri(tostring(uri), all.listen) then
            wrong(name, 'replication is not supported')
        end
    end
end

function checks.replication_anon(name, value, all)
    if value and not all.read_only then
        wrong(name, 'the value may be set to true only when the instance is read-only')
    elseif value then
        wrong(name, 'replication is not supported')
    end
end

-- 0: there is none but the one that does the requests.
function checks.iproto_threads(name, value)
    if value < 0 or value > 1000 or value % 1 ~= 0 then
        wrong(name, 'must be an integer from 0 to 1000')
    end
end

function checks.io_busy_poll(name, value)
    if not (value >= 0 and value <= 0.001) then
        wrong(name, 'specified value is out of bounds')
    end
end

function checks.net_msg_max(name, value)
    if value < 2 then
        wrong(name, 'minimal value is 2')
    end
end

-- Names and types -----------------------------------------------------------

local function check_type(name, value)
    local option = M.options[name]
    if option == nil then
        wrong(tostring(name), 'unexpected option')
    elseif value == nil or value == '' then
        return
    elseif name == 'log_level' then
        local problem = log_cfg.check_level(value)
        if problem ~= nil then
            wrong('log_level', problem)
        end
        return
    end
    local kinds = option[1]
    if kinds == 'any' then
        return
    end
    for kind in kinds:gmatch('[^, ]+') do
        if kind == type(value) then
            if value ~= value then
                wrong(name, 'must not be NaN')
            end
            return
        end
    end
    wrong(name, kinds:find(',') and 'should be one of types %s' or 'should be of type %s', kinds)
end

-- Options without a value that a string may stand for, in the form they are kept in.
local function normalize(name, value)
    if name == 'wal_mode' or name == 'log_format' then
        return type(value) == 'string' and value:lower() or value
    elseif name == 'listen' and type(value) == 'number' then
        return tostring(value)
    elseif name == 'replication' and type(value) ~= 'table' then
        return {tostring(value)}
    end
    return value
end

local function translate(name, value)
    local new = M.renamed[name]
    if new == nil then
        return name, value
    end
    c.say(4, ('Deprecated option %s, please use %s instead'):format(name, new[1]))
    if new[2] == 'not' then
        return new[1], not value
    elseif new[2] ~= nil then
        return new[1], value * new[2]
    end
    return new[1], value
end

-- A checked copy of what a script passed, with options by their present names. A value
-- of box.NULL or "" is kept as box.NULL: it takes a setting back.
function M.prepare(given)
    local out = {}
    for name, value in pairs(given) do
        name, value = translate(name, value)
        check_type(name, value)
        if value == nil or value == '' then
            out[name] = box.NULL
        else
            out[name] = normalize(name, value)
        end
    end
    return out
end

-- Checks values against each other and against `all`, the whole configuration.
function M.check(new, all)
    for name, value in pairs(new) do
        if value ~= nil and checks[name] ~= nil then
            checks[name](name, value, all)
        end
    end
end

return M
