package readings

// How a topic looks on a screen: invisible characters, and others that look the same.
// A guess for the eye only. Topics are compared byte by byte everywhere else.

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// plainName reports whether a topic is printable ASCII and so looks like nothing but itself.
func plainName(topic string) bool {
	for i := range len(topic) {
		if topic[i] < ' ' || topic[i] > '~' {
			return false
		}
	}
	return true
}

// skeleton returns what a topic looks like, and false for one in printable ASCII.
func skeleton(topic string) (string, bool) {
	if plainName(topic) {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(topic); {
		c, n := utf8.DecodeRuneInString(topic[i:])
		switch {
		case c == utf8.RuneError && n <= 1:
			b.WriteByte(topic[i])
		case c < utf8.RuneSelf && c >= ' ' && c != 0x7f:
			b.WriteByte(byte(c))
		case blank(c):
			b.WriteByte(' ')
		case unseen(c):
		default:
			b.WriteString(looksLike(c))
		}
		i += n
	}
	return b.String(), true
}

// looksLike returns letters that a reader takes c for: base and marks of a composed letter, the Latin twin of a letter
// of another script.
func looksLike(c rune) string {
	if c >= 0xff01 && c <= 0xff5e { // the wide forms of ASCII
		return string(c - 0xff01 + '!')
	}
	if i := strings.IndexRune(twins, c); i >= 0 {
		i += utf8.RuneLen(c)
		return twins[i : i+1]
	}
	if c < 0xc0 || c > 0x1eff || unicode.Is(unicode.Mn, c) {
		return string(c)
	}
	if i := strings.IndexRune(composed, c); i >= 0 {
		i += utf8.RuneLen(c)
		end := strings.IndexByte(composed[i:], ' ')
		return composed[i : i+end]
	}
	return string(c)
}

// unseen reports whether a character takes no room on a screen.
func unseen(c rune) bool {
	return unicode.In(c, unicode.Cf, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Variation_Selector) ||
		c == 0x034f || c == 0x115f || c == 0x1160 || c == 0x3164 || c == 0xffa0
}

// blank reports whether a character looks like a space and is another one.
func blank(c rune) bool { return c != ' ' && (unicode.Is(unicode.Zs, c) || c == 0x2800) }

// hasInvisible reports whether a topic has characters that a person does not see, or takes for a plain space.
func hasInvisible(topic string) bool {
	if plainName(topic) {
		return false
	}
	for _, c := range topic {
		if unseen(c) || blank(c) {
			return true
		}
	}
	return false
}

// lookName returns the topic that a key of looks stands for.
func lookName(key string) string { return key[2 : len(key)-1] }

// lookOf returns the key of those that look like a topic in printable ASCII, 0 for none.
func (r *Reader) lookOf(id uint32) uint32 {
	topic := r.name(id)
	if r.looks == 0 || !plainName(topic) {
		return 0
	}
	var room [160]byte
	b := append(append(append(room[:0], 0, 'l'), topic...), 0)
	return r.lookupBytes(b)
}

// judgeName looks at the topic's own characters.
func (r *Reader) judgeName(v *verdict, id uint32, h *held) {
	topic := r.name(id)
	if plainName(topic) {
		if look := r.lookOf(id); look != 0 {
			v.note(LookAlike, Medium, r.smallestRef(look, id))
		}
		return
	}
	if hasInvisible(topic) {
		v.note(Invisible, Medium, 0)
	}
	for i := h.own; i != 0; i = r.refs[i].nextOwn {
		x := &r.refs[i]
		if x.kind != refLook {
			continue
		}
		twin := r.lookup(lookName(r.name(x.to)))
		if twin == id || twin != 0 && r.nodes[twin].held == 0 {
			twin = 0
		}
		if twin == 0 {
			twin = r.smallestRef(x.to, id)
		}
		if twin != 0 || r.nodes[x.to].nrefs > maxPeers {
			v.note(LookAlike, Medium, twin)
		}
	}
}

// smallestRef returns the smallest topic but one that shares a key; 0 where so many do that nobody is compared.
func (r *Reader) smallestRef(key, but uint32) uint32 {
	best := uint32(0)
	if r.nodes[key].nrefs > maxPeers {
		return best
	}
	for i := r.nodes[key].refs; i != 0; i = r.refs[i].next {
		if from := r.refs[i].from; from != but && r.earlier(from, best) {
			best = from
		}
	}
	return best
}

// twins are letters of other scripts, each followed by the Latin letter it looks like.
const twins = "аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwАAВBЕEКKМMНHОOРPСCТTХXІIЈJЅS" +
	"οoΟOΑAΒBΕEΖZΗHΙIΚKΜMΝNΡPΤTΥYΧX"

// composed are composed letters, each followed by its base and its marks.
//
// Source: Unicode, canonical decomposition, Latin letters.
const composed = "ÀA\u0300 ÁA\u0301 ÂA\u0302 ÃA\u0303 ÄA\u0308 ÅA\u030a ÇC\u0327 ÈE\u0300 ÉE\u0301 ÊE\u0302 ËE\u0308 ÌI\u0300 " +
	"ÍI\u0301 ÎI\u0302 ÏI\u0308 ÑN\u0303 ÒO\u0300 ÓO\u0301 ÔO\u0302 ÕO\u0303 ÖO\u0308 ÙU\u0300 ÚU\u0301 ÛU\u0302 " +
	"ÜU\u0308 ÝY\u0301 àa\u0300 áa\u0301 âa\u0302 ãa\u0303 äa\u0308 åa\u030a çc\u0327 èe\u0300 ée\u0301 êe\u0302 " +
	"ëe\u0308 ìi\u0300 íi\u0301 îi\u0302 ïi\u0308 ñn\u0303 òo\u0300 óo\u0301 ôo\u0302 õo\u0303 öo\u0308 ùu\u0300 " +
	"úu\u0301 ûu\u0302 üu\u0308 ýy\u0301 ÿy\u0308 ĀA\u0304 āa\u0304 ĂA\u0306 ăa\u0306 ĄA\u0328 ąa\u0328 ĆC\u0301 " +
	"ćc\u0301 ĈC\u0302 ĉc\u0302 ĊC\u0307 ċc\u0307 ČC\u030c čc\u030c ĎD\u030c ďd\u030c ĒE\u0304 ēe\u0304 ĔE\u0306 " +
	"ĕe\u0306 ĖE\u0307 ėe\u0307 ĘE\u0328 ęe\u0328 ĚE\u030c ěe\u030c ĜG\u0302 ĝg\u0302 ĞG\u0306 ğg\u0306 ĠG\u0307 " +
	"ġg\u0307 ĢG\u0327 ģg\u0327 ĤH\u0302 ĥh\u0302 ĨI\u0303 ĩi\u0303 ĪI\u0304 īi\u0304 ĬI\u0306 ĭi\u0306 ĮI\u0328 " +
	"įi\u0328 İI\u0307 ĴJ\u0302 ĵj\u0302 ĶK\u0327 ķk\u0327 ĹL\u0301 ĺl\u0301 ĻL\u0327 ļl\u0327 ĽL\u030c ľl\u030c " +
	"ŃN\u0301 ńn\u0301 ŅN\u0327 ņn\u0327 ŇN\u030c ňn\u030c ŌO\u0304 ōo\u0304 ŎO\u0306 ŏo\u0306 ŐO\u030b őo\u030b " +
	"ŔR\u0301 ŕr\u0301 ŖR\u0327 ŗr\u0327 ŘR\u030c řr\u030c ŚS\u0301 śs\u0301 ŜS\u0302 ŝs\u0302 ŞS\u0327 şs\u0327 " +
	"ŠS\u030c šs\u030c ŢT\u0327 ţt\u0327 ŤT\u030c ťt\u030c ŨU\u0303 ũu\u0303 ŪU\u0304 ūu\u0304 ŬU\u0306 ŭu\u0306 " +
	"ŮU\u030a ůu\u030a ŰU\u030b űu\u030b ŲU\u0328 ųu\u0328 ŴW\u0302 ŵw\u0302 ŶY\u0302 ŷy\u0302 ŸY\u0308 ŹZ\u0301 " +
	"źz\u0301 ŻZ\u0307 żz\u0307 ŽZ\u030c žz\u030c ƠO\u031b ơo\u031b ƯU\u031b ưu\u031b ǍA\u030c ǎa\u030c ǏI\u030c " +
	"ǐi\u030c ǑO\u030c ǒo\u030c ǓU\u030c ǔu\u030c ǕU\u0308\u0304 ǖu\u0308\u0304 ǗU\u0308\u0301 ǘu\u0308\u0301 " +
	"ǙU\u0308\u030c ǚu\u0308\u030c ǛU\u0308\u0300 ǜu\u0308\u0300 ǞA\u0308\u0304 ǟa\u0308\u0304 ǠA\u0307\u0304 " +
	"ǡa\u0307\u0304 ǦG\u030c ǧg\u030c ǨK\u030c ǩk\u030c ǪO\u0328 ǫo\u0328 ǬO\u0328\u0304 ǭo\u0328\u0304 ǰj\u030c " +
	"ǴG\u0301 ǵg\u0301 ǸN\u0300 ǹn\u0300 ǺA\u030a\u0301 ǻa\u030a\u0301 ȀA\u030f ȁa\u030f ȂA\u0311 ȃa\u0311 " +
	"ȄE\u030f ȅe\u030f ȆE\u0311 ȇe\u0311 ȈI\u030f ȉi\u030f ȊI\u0311 ȋi\u0311 ȌO\u030f ȍo\u030f ȎO\u0311 ȏo\u0311 " +
	"ȐR\u030f ȑr\u030f ȒR\u0311 ȓr\u0311 ȔU\u030f ȕu\u030f ȖU\u0311 ȗu\u0311 ȘS\u0326 șs\u0326 ȚT\u0326 țt\u0326 " +
	"ȞH\u030c ȟh\u030c ȦA\u0307 ȧa\u0307 ȨE\u0327 ȩe\u0327 ȪO\u0308\u0304 ȫo\u0308\u0304 ȬO\u0303\u0304 " +
	"ȭo\u0303\u0304 ȮO\u0307 ȯo\u0307 ȰO\u0307\u0304 ȱo\u0307\u0304 ȲY\u0304 ȳy\u0304 ḀA\u0325 ḁa\u0325 ḂB\u0307 " +
	"ḃb\u0307 ḄB\u0323 ḅb\u0323 ḆB\u0331 ḇb\u0331 ḈC\u0327\u0301 ḉc\u0327\u0301 ḊD\u0307 ḋd\u0307 ḌD\u0323 " +
	"ḍd\u0323 ḎD\u0331 ḏd\u0331 ḐD\u0327 ḑd\u0327 ḒD\u032d ḓd\u032d ḔE\u0304\u0300 ḕe\u0304\u0300 ḖE\u0304\u0301 " +
	"ḗe\u0304\u0301 ḘE\u032d ḙe\u032d ḚE\u0330 ḛe\u0330 ḜE\u0327\u0306 ḝe\u0327\u0306 ḞF\u0307 ḟf\u0307 ḠG\u0304 " +
	"ḡg\u0304 ḢH\u0307 ḣh\u0307 ḤH\u0323 ḥh\u0323 ḦH\u0308 ḧh\u0308 ḨH\u0327 ḩh\u0327 ḪH\u032e ḫh\u032e ḬI\u0330 " +
	"ḭi\u0330 ḮI\u0308\u0301 ḯi\u0308\u0301 ḰK\u0301 ḱk\u0301 ḲK\u0323 ḳk\u0323 ḴK\u0331 ḵk\u0331 ḶL\u0323 " +
	"ḷl\u0323 ḸL\u0323\u0304 ḹl\u0323\u0304 ḺL\u0331 ḻl\u0331 ḼL\u032d ḽl\u032d ḾM\u0301 ḿm\u0301 ṀM\u0307 " +
	"ṁm\u0307 ṂM\u0323 ṃm\u0323 ṄN\u0307 ṅn\u0307 ṆN\u0323 ṇn\u0323 ṈN\u0331 ṉn\u0331 ṊN\u032d ṋn\u032d " +
	"ṌO\u0303\u0301 ṍo\u0303\u0301 ṎO\u0303\u0308 ṏo\u0303\u0308 ṐO\u0304\u0300 ṑo\u0304\u0300 ṒO\u0304\u0301 " +
	"ṓo\u0304\u0301 ṔP\u0301 ṕp\u0301 ṖP\u0307 ṗp\u0307 ṘR\u0307 ṙr\u0307 ṚR\u0323 ṛr\u0323 ṜR\u0323\u0304 " +
	"ṝr\u0323\u0304 ṞR\u0331 ṟr\u0331 ṠS\u0307 ṡs\u0307 ṢS\u0323 ṣs\u0323 ṤS\u0301\u0307 ṥs\u0301\u0307 " +
	"ṦS\u030c\u0307 ṧs\u030c\u0307 ṨS\u0323\u0307 ṩs\u0323\u0307 ṪT\u0307 ṫt\u0307 ṬT\u0323 ṭt\u0323 ṮT\u0331 " +
	"ṯt\u0331 ṰT\u032d ṱt\u032d ṲU\u0324 ṳu\u0324 ṴU\u0330 ṵu\u0330 ṶU\u032d ṷu\u032d ṸU\u0303\u0301 " +
	"ṹu\u0303\u0301 ṺU\u0304\u0308 ṻu\u0304\u0308 ṼV\u0303 ṽv\u0303 ṾV\u0323 ṿv\u0323 ẀW\u0300 ẁw\u0300 ẂW\u0301 " +
	"ẃw\u0301 ẄW\u0308 ẅw\u0308 ẆW\u0307 ẇw\u0307 ẈW\u0323 ẉw\u0323 ẊX\u0307 ẋx\u0307 ẌX\u0308 ẍx\u0308 ẎY\u0307 " +
	"ẏy\u0307 ẐZ\u0302 ẑz\u0302 ẒZ\u0323 ẓz\u0323 ẔZ\u0331 ẕz\u0331 ẖh\u0331 ẗt\u0308 ẘw\u030a ẙy\u030a ẠA\u0323 " +
	"ạa\u0323 ẢA\u0309 ảa\u0309 ẤA\u0302\u0301 ấa\u0302\u0301 ẦA\u0302\u0300 ầa\u0302\u0300 ẨA\u0302\u0309 " +
	"ẩa\u0302\u0309 ẪA\u0302\u0303 ẫa\u0302\u0303 ẬA\u0323\u0302 ậa\u0323\u0302 ẮA\u0306\u0301 ắa\u0306\u0301 " +
	"ẰA\u0306\u0300 ằa\u0306\u0300 ẲA\u0306\u0309 ẳa\u0306\u0309 ẴA\u0306\u0303 ẵa\u0306\u0303 ẶA\u0323\u0306 " +
	"ặa\u0323\u0306 ẸE\u0323 ẹe\u0323 ẺE\u0309 ẻe\u0309 ẼE\u0303 ẽe\u0303 ẾE\u0302\u0301 ếe\u0302\u0301 " +
	"ỀE\u0302\u0300 ềe\u0302\u0300 ỂE\u0302\u0309 ểe\u0302\u0309 ỄE\u0302\u0303 ễe\u0302\u0303 ỆE\u0323\u0302 " +
	"ệe\u0323\u0302 ỈI\u0309 ỉi\u0309 ỊI\u0323 ịi\u0323 ỌO\u0323 ọo\u0323 ỎO\u0309 ỏo\u0309 ỐO\u0302\u0301 " +
	"ốo\u0302\u0301 ỒO\u0302\u0300 ồo\u0302\u0300 ỔO\u0302\u0309 ổo\u0302\u0309 ỖO\u0302\u0303 ỗo\u0302\u0303 " +
	"ỘO\u0323\u0302 ộo\u0323\u0302 ỚO\u031b\u0301 ớo\u031b\u0301 ỜO\u031b\u0300 ờo\u031b\u0300 ỞO\u031b\u0309 " +
	"ởo\u031b\u0309 ỠO\u031b\u0303 ỡo\u031b\u0303 ỢO\u031b\u0323 ợo\u031b\u0323 ỤU\u0323 ụu\u0323 ỦU\u0309 " +
	"ủu\u0309 ỨU\u031b\u0301 ứu\u031b\u0301 ỪU\u031b\u0300 ừu\u031b\u0300 ỬU\u031b\u0309 ửu\u031b\u0309 " +
	"ỮU\u031b\u0303 ữu\u031b\u0303 ỰU\u031b\u0323 ựu\u031b\u0323 ỲY\u0300 ỳy\u0300 ỴY\u0323 ỵy\u0323 ỶY\u0309 " +
	"ỷy\u0309 ỸY\u0303 ỹy\u0303 "
