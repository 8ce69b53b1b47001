-- SPDX-License-Identifier: BSD-2-Clause
--
-- digest.xxhash32 and digest.xxhash64: xxHash at once, or of bytes that come in pieces.
local ffi = require('ffi')

ffi.cdef[[
/* None of these yields or runs Lua. */
uint32_t tarn_xxh32(const char *data, size_t size, uint32_t seed);
uint64_t tarn_xxh64(const char *data, size_t size, uint64_t seed);
void *tarn_xxh32_new(void);
void *tarn_xxh64_new(void);
void tarn_xxh32_free(void *state);
void tarn_xxh64_free(void *state);
void tarn_xxh32_reset(void *state, uint32_t seed);
void tarn_xxh64_reset(void *state, uint64_t seed);
void tarn_xxh32_update(void *state, const char *data, size_t size);
void tarn_xxh64_update(void *state, const char *data, size_t size);
uint32_t tarn_xxh32_digest(const void *state);
uint64_t tarn_xxh64_digest(const void *state);
]]
local lib = ffi.C

local function is_seed(value)
    return value == nil or (type(value) == 'number' and value >= 0) or
           ffi.istype('uint64_t', value) or (ffi.istype('int64_t', value) and value >= 0)
end

-- The function object digest.xxhash32 or digest.xxhash64.
local function make(bits)
    local prefix = 'tarn_xxh' .. bits
    local name = 'xxhash' .. bits
    local hash, create = lib[prefix], lib[prefix .. '_new']
    local free, reset = lib[prefix .. '_free'], lib[prefix .. '_reset']
    local update, result = lib[prefix .. '_update'], lib[prefix .. '_digest']
    local methods = {}
    methods.__index = methods

    local function check_self(self, usage)
        if type(self) ~= 'table' or getmetatable(self) ~= methods then
            error(('Usage: %s:%s'):format(name, usage), 3)
        end
    end

    -- Begins again, with the seed of new() unless there is another.
    function methods:clear(seed)
        check_self(self, 'clear([unsigned number])')
        if not is_seed(seed) then
            error(('Usage: %s:clear([unsigned number])'):format(name), 2)
        end
        reset(self.state, seed or self.seed)
    end

    function methods:update(text)
        check_self(self, 'update(string)')
        if type(text) ~= 'string' then
            error(('Usage: %s:update(string)'):format(name), 2)
        end
        update(self.state, text, #text)
    end

    function methods:result()
        check_self(self, 'result()')
        return result(self.state)
    end

    local function new(seed)
        if not is_seed(seed) then
            error(('Usage: digest.%s.new([unsigned number])'):format(name), 2)
        end
        local state = create()
        if state == nil then
            error('not enough memory', 2)
        end
        local self = setmetatable({state = ffi.gc(state, free), seed = seed or 0}, methods)
        self:clear()
        return self
    end

    return setmetatable({new = new}, {
        __call = function(_, text, seed)
            if type(text) ~= 'string' or not is_seed(seed) then
                error(('Usage: digest.%s(string[, unsigned number])'):format(name), 2)
            end
            return hash(text, #text, seed or 0)
        end,
    })
end

return {xxhash32 = make(32), xxhash64 = make(64)}
