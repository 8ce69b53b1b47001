/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Names of time zones and the numbers that MessagePack has for them. The numbers are
 * fixed: connectors have the same table (their public timezones.py, timezones.go).
 *
 * Abbreviations come in groups by their length and first letter; each group begins at
 * a multiple of eight. Zones of the tz database follow, in alphabetical order, as they
 * were in 2021; other names of that database are links to them (timezone.c).
 */
#include "data/timezone_private.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/memory.h"

/**
 * Minutes from UTC behind each name; `d` is a summer time, `a` ambiguous: refused as a
 * name, known as a number.
 */
static const char abbreviations[] =
	"A60 B120 C180 D240 E300 F360 G420 H480 I540 K600 L660 M720 N-60 O-120 P-180 Q-240 R-300 "
	"S-360 T-420 U-480 V-540 W-600 X-660 Y-720 Z0 "
	"AT0a BT0a CT0a ET0a GT0 IT0a KT540 MT0a PT0a ST780 UT0 WT0 "
	"ACT0a ADT0ad AET0a AFT270 AMT0a AoE-720 ART-180 AST0ad AZT240 "
	"BDT0a BNT480 BOT-240 BRT-180 BST0a BTT360 "
	"CAT120 CCT390 CDT-300ad CET60 CIT-300 CKT-600 CLT-180 COT-300 CST-360a CVT-60 CXT420 "
	"EAT180 ECT0a EDT-240ad EET120 EGT-60 EST-300a FET180 FJT720 FKT-240 FNT-120 "
	"GET240 GFT-180 GMT0 GST0a GYT-240 "
	"HAA-180 HAC-300 HAE-240 HAP-420 HAR-360 HAT-90 HDT-540d HKT480 HLV-210 HNA-240 HNC-360 "
	"HNE-300 HNP-480 HNR-420 HNT-150 HST-600 ICT420 IDT0ad IOT360 IST0a JST540 KGT360 KIT300 "
	"KST540 MCK180 MDT-360d MEZ60 MHT720 MMT390 MSD240d MSK180 MST-420a MUT240 MVT300 MYT480 "
	"NCT660 NDT-90d NFT660 NPT345 NRT720 NST-150 NUT-660 OEZ120 "
	"PDT-420d PET-300 PGT600 PHT480 PKT300 PST-480a PWT540 PYT0a RET240 "
	"SBT660 SCT240 SGT480 SRT-180 SST0a TFT300 TJT300 TKT780 TLT540 TMT300 TOT780 TRT180 TVT720 "
	"UTC0 UYT-180 UZT300 VET-210 VUT660 "
	"WAT0a WDT540d WET0 WEZ0 WFT720 WGT-180 WIB420 WIT540 WST0a "
	"ACDT630d ACST570 ADST0ad AEDT660d AEST600 AKDT-480d AKST-540 ALMT360 AMDT300d AMST0ad "
	"ANAT720 AQTT300 AWDT540d AWST480 AZOT-60 AZST300d BDST60d BRST-120d "
	"CAST480 CDST0ad CEDT120d CEST120d CHOT480 ChST600 CHUT600 CIST-300 CLDT-180d CLST0a "
	"DAVT420 DDUT600 EADT-300d EAST-300 ECST120d EDST0ad EEDT180d EEST180d EGST0d "
	"FJDT780d FJST780d FKDT-180d FKST0ad GALT-360 GAMT-540 GILT720 HADT-540d HAST-600 HOVT420 "
	"IRDT270d IRKT480 IRST0ad KOST660 KRAT420 KUYT240 LHDT660d LHST630 LINT840 "
	"MAGT600 MART-510 MAWT300 MDST-360d MESZ120 NFDT720d NOVT360 NZDT780d NZST720 "
	"OESZ180 OMST360 ORAT300 PDST-420d PETT720 PHOT780 PMDT-120d PMST-180 PONT660 PYST0a "
	"QYZT360 ROTT-180 SAKT600 SAMT240 SAST120 SRET660 SYOT180 TAHT-600 TOST840d ULAT480 "
	"UYST-120d VLAT600 VOST360 WAKT720 WAST120d WEDT60d WEST60d WESZ60 WGST-120d WITA480 "
	"YAKT540 YAPT600 YEKT300 "
	"ACWST525 ANAST720d AZODT0d AZOST0ad CHADT825d CHAST765 CHODT540d CHOST540d CIDST-240d "
	"EASST-300d EFATE660 HOVDT480d HOVST480d IRKST540d KRAST480d MAGST720d NACDT-300d NACST-360 "
	"NAEDT-240d NAEST-300 NAMDT-360d NAMST-420 NAPDT-420d NAPST-480 NOVST420d OMSST420d "
	"PETST720d SAMST240d ULAST540d VLAST660d WARST-180d YAKST600d YEKST360d CHODST540d HOVDST480d ";

static const char zones[] =
	"Africa/ Abidjan Algiers Bissau Cairo Casablanca Ceuta El_Aaiun Johannesburg Juba Khartoum "
	"Lagos Maputo Monrovia Nairobi Ndjamena Sao_Tome Tripoli Tunis Windhoek "
	"America/ Adak Anchorage Araguaina Argentina/Buenos_Aires Argentina/Catamarca "
	"Argentina/Cordoba Argentina/Jujuy Argentina/La_Rioja Argentina/Mendoza "
	"Argentina/Rio_Gallegos Argentina/Salta Argentina/San_Juan Argentina/San_Luis "
	"Argentina/Tucuman Argentina/Ushuaia Asuncion Bahia Bahia_Banderas Barbados Belem Belize "
	"Boa_Vista Bogota Boise Cambridge_Bay Campo_Grande Cancun Caracas Cayenne Chicago Chihuahua "
	"Costa_Rica Cuiaba Danmarkshavn Dawson Dawson_Creek Denver Detroit Edmonton Eirunepe "
	"El_Salvador Fort_Nelson Fortaleza Glace_Bay Goose_Bay Grand_Turk Guatemala Guayaquil Guyana "
	"Halifax Havana Hermosillo Indiana/Indianapolis Indiana/Knox Indiana/Marengo "
	"Indiana/Petersburg Indiana/Tell_City Indiana/Vevay Indiana/Vincennes Indiana/Winamac Inuvik "
	"Iqaluit Jamaica Juneau Kentucky/Louisville Kentucky/Monticello La_Paz Lima Los_Angeles "
	"Maceio Managua Manaus Martinique Matamoros Mazatlan Menominee Merida Metlakatla Mexico_City "
	"Miquelon Moncton Monterrey Montevideo New_York Nipigon Nome Noronha North_Dakota/Beulah "
	"North_Dakota/Center North_Dakota/New_Salem Nuuk Ojinaga Panama Pangnirtung Paramaribo "
	"Phoenix Port-au-Prince Porto_Velho Puerto_Rico Punta_Arenas Rainy_River Rankin_Inlet Recife "
	"Regina Resolute Rio_Branco Santarem Santiago Santo_Domingo Sao_Paulo Scoresbysund Sitka "
	"St_Johns Swift_Current Tegucigalpa Thule Thunder_Bay Tijuana Toronto Vancouver Whitehorse "
	"Winnipeg Yakutat Yellowknife "
	"Antarctica/ Casey Davis Macquarie Mawson Palmer Rothera Troll Vostok "
	"Asia/ Almaty Amman Anadyr Aqtau Aqtobe Ashgabat Atyrau Baghdad Baku Bangkok Barnaul Beirut "
	"Bishkek Brunei Chita Choibalsan Colombo Damascus Dhaka Dili Dubai Dushanbe Famagusta Gaza "
	"Hebron Ho_Chi_Minh Hong_Kong Hovd Irkutsk Jakarta Jayapura Jerusalem Kabul Kamchatka Karachi "
	"Kathmandu Khandyga Kolkata Krasnoyarsk Kuala_Lumpur Kuching Macau Magadan Makassar Manila "
	"Nicosia Novokuznetsk Novosibirsk Omsk Oral Pontianak Pyongyang Qatar Qostanay Qyzylorda "
	"Riyadh Sakhalin Samarkand Seoul Shanghai Singapore Srednekolymsk Taipei Tashkent Tbilisi "
	"Tehran Thimphu Tokyo Tomsk Ulaanbaatar Urumqi Ust-Nera Vladivostok Yakutsk Yangon "
	"Yekaterinburg Yerevan "
	"Atlantic/ Azores Bermuda Canary Cape_Verde Faroe Madeira Reykjavik South_Georgia Stanley "
	"Australia/ Adelaide Brisbane Broken_Hill Darwin Eucla Hobart Lindeman Lord_Howe Melbourne "
	"Perth Sydney "
	"Etc/ GMT UTC "
	"Europe/ Amsterdam Andorra Astrakhan Athens Belgrade Berlin Brussels Bucharest Budapest "
	"Chisinau Copenhagen Dublin Gibraltar Helsinki Istanbul Kaliningrad Kiev Kirov Lisbon London "
	"Luxembourg Madrid Malta Minsk Monaco Moscow Oslo Paris Prague Riga Rome Samara Saratov "
	"Simferopol Sofia Stockholm Tallinn Tirane Ulyanovsk Uzhgorod Vienna Vilnius Volgograd Warsaw "
	"Zaporozhye Zurich "
	"Indian/ Chagos Christmas Cocos Kerguelen Mahe Maldives Mauritius Reunion "
	"Pacific/ Apia Auckland Bougainville Chatham Chuuk Easter Efate Fakaofo Fiji Funafuti "
	"Galapagos Gambier Guadalcanal Guam Honolulu Kanton Kiritimati Kosrae Kwajalein Majuro "
	"Marquesas Nauru Niue Norfolk Noumea Pago_Pago Palau Pitcairn Pohnpei Port_Moresby Rarotonga "
	"Tahiti Tarawa Tongatapu Wake Wallis ";

enum {
	GROUP_ALIGNMENT = 8,
	/** Where groups begin that have two letters or more. */
	LONG_BEGIN = 32,
	ZONES_BEGIN = 672,
	ZONES_END = 1012,
};

static struct timezone_name names[ZONES_END];
static bool is_ready;

/** The next word; NULL at the end. Words end in a space each. */
static const char *next_word(const char **pos, size_t *len)
{
	const char *word = *pos, *end = strchr(word, ' ');
	if (end == NULL)
		return NULL;
	*len = end - word;
	*pos = end + 1;
	return word;
}

static char *join(const char *a, size_t a_len, const char *b, size_t b_len)
{
	char *s = xmalloc(a_len + b_len + 1);
	memcpy(s, a, a_len);
	memcpy(s + a_len, b, b_len);
	s[a_len + b_len] = '\0';
	return s;
}

static void load_abbreviations(void)
{
	const char *pos = abbreviations, *word;
	size_t len, group_len = 1;
	char group_letter = 'A';
	uint32_t index = 1;
	while ((word = next_word(&pos, &len)) != NULL) {
		size_t name_len = strcspn(word, "-0123456789");
		if (name_len > 1 && (name_len != group_len || *word != group_letter)) {
			index = (index + GROUP_ALIGNMENT - 1) / GROUP_ALIGNMENT * GROUP_ALIGNMENT;
			group_len = name_len;
			group_letter = *word;
		}
		struct timezone_name *n = &names[index++];
		n->name = join(word, name_len, "", 0);
		char *flags;
		n->offset = strtol(word + name_len, &flags, 10);
		n->is_ambiguous = memchr(flags, 'a', word + len - flags) != NULL;
		n->is_dst = memchr(flags, 'd', word + len - flags) != NULL;
	}
}

static void load_zones(void)
{
	const char *pos = zones, *word, *area = NULL;
	size_t len, area_len = 0;
	uint32_t index = ZONES_BEGIN;
	while ((word = next_word(&pos, &len)) != NULL) {
		if (word[len - 1] == '/') {
			area = word;
			area_len = len;
			continue;
		}
		names[index].is_zone = true;
		names[index++].name = join(area, area_len, word, len);
	}
}

static void load(void)
{
	if (is_ready)
		return;
	is_ready = true;
	load_abbreviations();
	load_zones();
}

const struct timezone_name *timezone_entry(int index)
{
	load();
	return index > 0 && index < ZONES_END && names[index].name != NULL ? &names[index] : NULL;
}

int timezone_find(const char *name, size_t len)
{
	load();
	for (int i = 1; i < ZONES_END; i++)
		if (names[i].name != NULL && strlen(names[i].name) == len &&
		    strncasecmp(names[i].name, name, len) == 0)
			return i;
	return 0;
}
