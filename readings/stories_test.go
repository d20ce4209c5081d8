package readings

// What each story of the house should read as, written from the story's text before the code was run.
// No code under test here: a table and its vocabulary.

// leftWant is what the person should be told about "left behind".
type leftWant uint8

const (
	stays      leftWant = iota // a living owner, or nobody's, or leaves by itself: never "left behind"
	left                       // left behind, and the wire tells it at the end of the scan
	leftLater                  // left behind, and only silence while watching can tell it
	leftLong                   // likewise, and it takes more than a day
	untellable                 // left behind by its story, and nothing on the wire says so: must read as not left
)

type want struct {
	left       leftWant
	living     bool     // the story says that the owner lives and still means this topic
	convention string   // of the owner; "" where the story gives none
	state      State    // of the owner, as far as a retained store can say it
	finds      []string // "kind strength", each must be there
	only       bool     // no finding above weak but those
}

// stories gives the expectation for every topic of a story; exceptions by topic follow below.
var stories = map[string]want{
	// The app says online, names every device, and stamps everything.
	"cosalette-live": {living: true, convention: "cosalette", state: Alive, only: true},
	"short-window":   {living: true, convention: "cosalette", state: Alive, only: true},
	// 3.1.1 by choice: no expiry anywhere, the heartbeat names the device.
	"cosalette-311-live": {living: true, convention: "cosalette", state: Alive, only: true},
	// The first incident. The app lives, its heartbeat does not name the calendar, and its others all carry an expiry.
	"cosalette-orphan": {left: left, convention: "cosalette", state: Alive, finds: []string{"unknown-name strong"}},
	// The second incident. Not named either, and the new name claims the same device with the same components.
	"cosalette-rename": {left: left, convention: "cosalette", state: Alive, finds: []string{"unknown-name strong", "renamed strong"}},
	// Home Assistant waits for ever: one availability topic of "all" is missing.
	"cosalette-phantom": {left: left, convention: "cosalette", state: Alive, finds: []string{"never-available strong", "unknown-name strong"}},
	"cosalette-oneshot": {living: true, convention: "cosalette", state: Alive, only: true},
	// Gone, but the broker will drop it by itself: the owner is offline and nothing is left behind.
	"cosalette-instance": {state: Offline, finds: []string{"owner-offline medium"}, only: true},
	"cosalette-crashed":  {state: Offline, finds: []string{"owner-offline medium"}, only: true},

	"z2m-live":             {living: true, convention: "zigbee2mqtt", state: Alive, only: true},
	"z2m-retention":        {living: true, convention: "zigbee2mqtt", state: Alive, only: true},
	"z2m-rename-orphan":    {left: left, convention: "zigbee2mqtt", state: Alive, finds: []string{"unknown-name strong"}},
	"z2m-removed-leftover": {left: left, convention: "zigbee2mqtt", state: Alive, finds: []string{"unknown-name strong"}},
	"z2m-dead-instance":    {left: left, convention: "zigbee2mqtt", state: Offline, finds: []string{"owner-offline medium"}},

	"tasmota-live": {living: true, convention: "Tasmota", state: Alive, only: true},
	// The shared LWT says Online, and that is the new plug: about the old one it says nothing. Which of the two is new is
	// not on the wire: the replacement may run the older firmware.
	"tasmota-replaced":     {left: untellable, convention: "Tasmota", state: Unknown, finds: []string{"replaced medium"}},
	"tasmota-topic-change": {left: left, convention: "Tasmota", state: Offline, finds: []string{"owner-offline medium"}},
	"tasmota-hazard":       {convention: "Tasmota", state: Unknown, finds: []string{"retained-command hazard"}},

	"esphome-live": {living: true, convention: "ESPHome", state: Alive, only: true},
	"esphome-dead": {left: left, convention: "ESPHome", state: Offline, finds: []string{"owner-offline medium"}},
	// The same MAC announces itself under a name that is online; this name has no status at all.
	"esphome-stale-discover": {left: left, convention: "ESPHome", state: Unknown, finds: []string{"replaced strong"}},
	// Both boards live; Home Assistant refuses the second config. The finding is on the two configs (below).
	"esphome-duplicate-uid": {living: true, convention: "ESPHome", state: Alive, only: true},

	"homie4-live":         {living: true, convention: "Homie", state: Alive, only: true},
	"homie5-live":         {living: true, convention: "Homie", state: Alive, only: true},
	"homie5-empty-string": {living: true, convention: "Homie", state: Alive, only: true},
	"homie-halfcleared":   {left: left, convention: "Homie", state: Unknown, finds: []string{"half-cleared strong"}},
	"homie5-lost":         {left: left, convention: "Homie", state: Offline, finds: []string{"owner-offline medium"}},

	"valetudo-live": {living: true, convention: "Valetudo", state: Alive, only: true},
	// The robot is ready, the value and its config agree with each other. Only the config's age can be guessed at.
	"valetudo-leftover": {left: untellable, convention: "Valetudo", state: Alive},

	"frigate-live":   {living: true, convention: "Frigate", state: Alive, only: true},
	"frigate-binary": {living: true, convention: "Frigate", state: Alive, only: true},
	// Frigate gives no list of cameras. What tells: it publishes the same set for each, and this one lacks two of it. A
	// camera that is being added does too, so it takes a day of silence.
	"frigate-removed": {left: leftLong, convention: "Frigate", state: Alive, finds: []string{"incomplete medium"}},

	"zwave-live": {living: true, convention: "Z-Wave JS UI", state: Alive, only: true},

	// The receiver lives, the transmitter passed by: nothing it names is retained, and only silence can tell.
	"rtl433-transient": {left: leftLater, convention: "rtl_433", state: Unknown, finds: []string{"dangling strong"}},
	"rtl433-live":      {living: true, convention: "rtl_433", state: Alive, only: true},

	"shelly-live": {living: true, convention: "Shelly", state: Alive, only: true},
	"shelly-dead": {left: left, convention: "Shelly", state: Offline, finds: []string{"owner-offline medium"}},

	"sparkplug-state":     {living: true, convention: "Sparkplug B", state: Alive, only: true},
	"sparkplug-v2-state":  {left: left, convention: "Sparkplug B", state: Offline, finds: []string{"owner-offline medium"}},
	"sparkplug-violation": {convention: "Sparkplug B", state: Unknown, finds: []string{"sparkplug hazard"}},

	"ha-status":    {living: true, convention: "Home Assistant", state: Alive, only: true},
	"statestream":  {living: true, convention: "statestream", state: Alive, only: true},
	"nodered-live": {living: true, state: Unknown, only: true},
	// Nobody owns these and nothing says so but a person's memory.
	"unowned": {left: untellable, state: Unknown, only: true},

	"ha-migration":     {living: true, state: Alive, only: true},
	"ha-illegal-topic": {left: left, state: Unknown, finds: []string{"illegal-topic strong"}},
	"ha-invalid-json":  {left: left, state: Unknown, finds: []string{"invalid-json strong"}},

	"edge-unicode":           {state: Unknown, only: true},
	"edge-space":             {state: Unknown, only: true},
	"edge-empty-first-level": {state: Unknown, only: true},
	"edge-empty-level":       {state: Unknown, only: true},
	"edge-trailing-slash":    {state: Unknown, only: true},
	"edge-bidi":              {state: Unknown, finds: []string{"invisible-characters medium"}},
	"edge-zero-width":        {state: Unknown, finds: []string{"look-alike medium"}},
	"edge-combining":         {state: Unknown, finds: []string{"look-alike medium"}},
	"edge-deep":              {state: Unknown, only: true},
	"edge-long":              {state: Unknown, only: true},
	"edge-escape":            {state: Unknown, only: true},
	"edge-newlines":          {state: Unknown, only: true},
	"edge-large":             {state: Unknown, only: true},
	"edge-nonutf8":           {state: Unknown, only: true},
	"edge-deep-json":         {state: Unknown, only: true},
	"edge-dup-keys":          {state: Unknown, only: true},
	"edge-null":              {state: Unknown, finds: []string{"looks-empty weak"}, only: true},
	"edge-space-payload":     {state: Unknown, finds: []string{"looks-empty weak"}, only: true},
	"expiry-spread":          {state: Unknown, only: true},
}

// exceptions are topics that read otherwise than the rest of their story.
var exceptions = map[string]want{
	// State and availability of the old name: their config tells the rename.
	"homeassistant/cover/velux2mqtt/cover_device/config": {left: left, convention: "cosalette", state: Alive,
		finds: []string{"never-available strong", "unknown-name strong", "dangling weak"}},
	// A flat battery: the device is offline and its owner is not.
	"zigbee2mqtt/soil_probe/availability":                          {living: true, convention: "zigbee2mqtt", state: Alive, finds: []string{"device-offline weak"}, only: true},
	"homeassistant/sensor/0x00005e0053000007/soil_moisture/config": {living: true, convention: "zigbee2mqtt", state: Alive, finds: []string{"device-offline weak"}, only: true},
	"homeassistant/sensor/0x00005e0053000007/linkquality/config":   {living: true, convention: "zigbee2mqtt", state: Alive, finds: []string{"device-offline weak"}, only: true},
	"zwave/node_7/status":                                          {living: true, convention: "Z-Wave JS UI", state: Alive, finds: []string{"device-offline weak"}, only: true},
	"homeassistant/switch/node_7/switch/config":                    {living: true, convention: "Z-Wave JS UI", state: Alive, finds: []string{"device-offline weak"}, only: true},
	// States that are not retained: normal for zigbee2mqtt.
	"homeassistant/switch/0x00005e0053000003/switch/config": {living: true, convention: "zigbee2mqtt", state: Alive, finds: []string{"dangling weak"}, only: true},

	"homeassistant/sensor/esp-porch/wifi_signal/config":  {living: true, convention: "ESPHome", state: Alive, finds: []string{"duplicate-id strong"}, only: true},
	"homeassistant/sensor/esp-porch2/wifi_signal/config": {living: true, convention: "ESPHome", state: Alive, finds: []string{"duplicate-id strong"}, only: true},

	// The device form replaced it: same unique id, same device.
	"homeassistant/sensor/heatmeter/power/config":  {left: left, state: Alive, finds: []string{"duplicate-id strong"}},
	"homeassistant/device/heatmeter/config":        {living: true, state: Alive, finds: []string{"duplicate-id strong"}, only: true},
	"homeassistant/sensor/heatmeter/energy/config": {left: left, finds: []string{"migration-marker strong"}},

	// The wills that fired.
	"wiz2mqtt/status":                 {state: Offline, finds: []string{"owner-offline medium", "will weak"}, only: true},
	"suncast/status":                  {state: Offline, finds: []string{"owner-offline medium", "will weak"}, only: true},
	"zigbee2mqtt-garage/bridge/state": {left: left, convention: "zigbee2mqtt", state: Offline, finds: []string{"owner-offline medium", "will medium"}},
	"tele/tas_heater_old/LWT":         {left: left, convention: "Tasmota", state: Offline, finds: []string{"owner-offline medium", "will medium"}},
	"esp-shed/status":                 {left: left, convention: "ESPHome", state: Offline, finds: []string{"owner-offline medium", "will medium"}},
	"shellies/shellyht-00535A/online": {left: left, convention: "Shelly", state: Offline, finds: []string{"owner-offline medium", "will medium"}},
	"homie/5/leaf9/$state":            {left: left, convention: "Homie", state: Offline, finds: []string{"owner-offline medium", "will medium"}},

	"homie/5/leaf1/main/label": {living: true, convention: "Homie", state: Alive, finds: []string{"looks-empty weak"}, only: true},
	"edge/zero\u200bwidth":     {state: Unknown, finds: []string{"look-alike medium", "invisible-characters medium"}},
}

// houseTotals are the totals the house's description gives.
var houseTotals = struct {
	configs, components, danglingStrong, danglingWeak, neverAvailable  int
	offline, duplicateIDs, renamed, invalid, illegal, marker, commands int
	sparkplug, invisible                                               int
}{
	configs: 88, components: 86, danglingStrong: 4, danglingWeak: 15, neverAvailable: 1,
	offline: 8, duplicateIDs: 2, renamed: 1, invalid: 1, illegal: 1, marker: 1, commands: 2,
	sparkplug: 1, invisible: 2,
}
