-- SPDX-License-Identifier: BSD-2-Clause
--
-- The types that C knows by number (enum lua_cdata_kind in bridge.h), a sample of
-- each, and makers of cdata that C cannot make. C calls this file once, at start-up,
-- with the table it returns; see cdata.c.
local ffi = require('ffi')

ffi.cdef[[
struct error;
/* struct lua_tuple of bridge.h. Its fields' names must not hide users' fields and methods. */
struct lua_tuple {
	const uint32_t __dict;
	const uint16_t __size;
	const uint16_t __format_id;
	const uint16_t __origin[3];
	const char __body[?];
};
/* struct lua_ibuf of buffer.h. */
struct ibuf {
	char *buf, *rpos, *wpos, *epos;
	size_t start_capacity;
};
/* struct decimal of data/decimal.h. */
struct decimal {
	uint64_t __low, __high;
	int32_t __exponent;
	uint32_t __is_negative;
};
/* Of data/datetime.h. */
struct datetime {
	double epoch;
	int32_t nsec;
	int16_t tzoffset;
	int16_t tzindex;
};
struct interval {
	double year, month, week, day, hour, min, sec, nsec;
	int32_t __adjust, __unused;
};
/* struct lua_varbinary of bridge.h. */
struct varbinary {
	const uint32_t __size;
	const char __data[?];
};
struct tt_uuid {
	uint32_t time_low;
	uint16_t time_mid;
	uint16_t time_hi_and_version;
	uint8_t clock_seq_hi_and_reserved;
	uint8_t clock_seq_low;
	uint8_t node[6];
};
]]

-- In the order of enum lua_cdata_kind; several C types may be of one kind.
local kinds = {
	{1, 'void *', 'const void *'},
	{2, 'int64_t', 'long', 'long long', 'intptr_t', 'ssize_t', 'ptrdiff_t'},
	{3, 'uint64_t', 'unsigned long', 'unsigned long long', 'size_t', 'uintptr_t'},
	{4, 'int8_t', 'char', 'signed char'},
	{5, 'uint8_t', 'unsigned char'},
	{6, 'int16_t', 'short'},
	{7, 'uint16_t', 'unsigned short'},
	{8, 'int32_t', 'int'},
	{9, 'uint32_t', 'unsigned int'},
	{10, 'float'},
	{11, 'double'},
	{12, 'bool'},
	{13, 'struct lua_tuple'},
	{14, 'struct error &'},
	{15, 'struct tt_uuid'},
	{16, 'struct decimal'},
	{17, 'char *'},
	{18, 'const char *'},
	{19, 'struct ibuf'},
	{20, 'struct datetime'},
	{21, 'struct interval'},
	{22, 'struct varbinary'},
}

-- The kind of each type by its id.
local kind_by_id = {}
-- Pairs: type id, a sample cdata of it.
local samples = {}
for _, row in ipairs(kinds) do
	for i = 2, #row do
		local ctype = ffi.typeof(row[i])
		local id = tonumber(ctype)
		if kind_by_id[id] == nil then
			kind_by_id[id] = row[1]
			samples[#samples + 1] = id
			local is_variable = row[i] == 'struct lua_tuple' or row[i] == 'struct varbinary'
			samples[#samples + 1] = is_variable and ctype(16) or ctype()
		end
	end
end

-- Which kind a cdata is, told without making garbage: a list of types is gone through.
-- istype() also takes a pointer to a struct for the struct, hence the look at the size
-- and the text, and a const char * for a char *, which does not matter. It takes a ctype object for an
-- int, too: those are told by their text.
local istype, sizeof, typeof = ffi.istype, ffi.sizeof, ffi.typeof
local known = {}
for _, row in ipairs(kinds) do
	for i = 2, #row do
		known[#known + 1] = {kind = row[1], ctype = ffi.typeof(row[i]),
			is_struct = row[i]:find('^struct [%w_]+$') ~= nil}
	end
end
local POINTER_SIZE = sizeof('void *')
local INT32 = 8

local function classify(cd)
	for i = 1, #known do
		local k = known[i]
		local is_pointer = k.is_struct and sizeof(cd) == POINTER_SIZE and
			tostring(typeof(cd)):find('[%*&]') ~= nil
		if istype(k.ctype, cd) and not is_pointer then
			return k.kind == INT32 and tostring(cd):find('^ctype') and 0 or k.kind
		end
	end
	return 0
end

-- Metatables of metatypes by type id: ffi.metatype() cannot be asked for them.
local metatypes = {}
local ffi_metatype = ffi.metatype
function ffi.metatype(ct, mt)
	local ctype = ffi_metatype(ct, mt)
	metatypes[tonumber(ctype)] = mt
	return ctype
end

-- The metatable of a cdata's type, or of the struct that it points or refers to.
local function metatype_of(cd)
	return metatypes[tonumber(typeof(cd))]
end

local int64_t, uint64_t = ffi.typeof('int64_t'), ffi.typeof('uint64_t')
local char_ptr_t, const_char_ptr_t = ffi.typeof('char *'), ffi.typeof('const char *')
local tuple_t, uuid_t = ffi.typeof('struct lua_tuple'), ffi.typeof('struct tt_uuid')
local decimal_t = ffi.typeof('struct decimal')
local varbinary_t = ffi.typeof('struct varbinary')
local datetime_t, interval_t = ffi.typeof('struct datetime'), ffi.typeof('struct interval')

return {
	kind_by_id = kind_by_id,
	samples = samples,
	metatypes = metatypes,
	metatype_of = metatype_of,
	null = ffi.cast('void *', 0),
	-- For where C cannot read a type's id itself.
	classify = classify,
	new_int64 = function() return int64_t() end,
	new_uint64 = function() return uint64_t() end,
	new_tuple = function(size) return tuple_t(size) end,
	new_uuid = function() return uuid_t() end,
	new_decimal = function() return decimal_t() end,
	new_varbinary = function(size) return varbinary_t(size, size) end,
	new_datetime = function() return datetime_t() end,
	new_interval = function() return interval_t() end,
	new_char_ptr = function() return char_ptr_t() end,
	new_const_char_ptr = function() return const_char_ptr_t() end,
	serializer = function(cd)
		local mt = metatype_of(cd)
		return mt and mt.__serialize
	end,
}
