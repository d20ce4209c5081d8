package readings

// The abbreviations of discovery configs, as far as they matter here: what names a topic, and the structure.
// A table in the form of a switch: nothing to fill at start, nothing that could change.

// longKey returns the long form of a key, and "other" for one that means nothing here.
//
// Source: Home Assistant, MQTT discovery, supported abbreviations.
func longKey(k []byte) string {
	switch string(k) {
	case "avty", "availability":
		return "availability"
	case "avty_t", "availability_topic":
		return "availability_topic"
	case "avty_tpl", "availability_template":
		return "availability_template"
	case "avty_mode", "availability_mode":
		return "availability_mode"
	case "pl_avail", "payload_available":
		return "payload_available"
	case "pl_not_avail", "payload_not_available":
		return "payload_not_available"
	case "cmps", "components":
		return "components"
	case "dev", "device":
		return "device"
	case "o", "origin":
		return "origin"
	case "p", "platform":
		return "platform"
	case "uniq_id", "unique_id":
		return "unique_id"
	case "exp_aft", "expire_after":
		return "expire_after"
	case "val_tpl", "value_template":
		return "value_template"
	case "dev_cla", "device_class":
		return "device_class"
	case "unit_of_meas", "unit_of_measurement":
		return "unit_of_measurement"
	case "migr_discvry", "migrate_discovery":
		return "migrate_discovery"
	case "stat_t", "state_topic":
		return "state_topic"
	case "cmd_t", "command_topic":
		return "command_topic"
	case "t", "topic":
		return "topic"
	case "~":
		return "~"
	}
	if s := topicKey(k); s != "" {
		return s
	}
	const suffix = "_topic"
	if len(k) > len(suffix) && string(k[len(k)-len(suffix):]) == suffix {
		return string(k)
	}
	return "other"
}

// topicKey returns the long form of the rarer keys that name a topic, or "".
func topicKey(k []byte) string {
	switch string(k) {
	case "act_t":
		return "action_topic"
	case "aux_cmd_t":
		return "aux_command_topic"
	case "aux_stat_t":
		return "aux_state_topic"
	case "away_mode_cmd_t":
		return "away_mode_command_topic"
	case "away_mode_stat_t":
		return "away_mode_state_topic"
	case "bat_lev_t":
		return "battery_level_topic"
	case "bri_cmd_t":
		return "brightness_command_topic"
	case "bri_stat_t":
		return "brightness_state_topic"
	case "chrg_t":
		return "charging_topic"
	case "cln_t":
		return "cleaning_topic"
	case "clr_temp_cmd_t":
		return "color_temp_command_topic"
	case "clr_temp_stat_t":
		return "color_temp_state_topic"
	case "clrm_stat_t":
		return "color_mode_state_topic"
	case "curr_hum_t":
		return "current_humidity_topic"
	case "curr_temp_t":
		return "current_temperature_topic"
	case "dir_cmd_t":
		return "direction_command_topic"
	case "dir_stat_t":
		return "direction_state_topic"
	case "dock_cmd_t":
		return "dock_command_topic"
	case "dock_t":
		return "docked_topic"
	case "err_t":
		return "error_topic"
	case "fan_mode_cmd_t":
		return "fan_mode_command_topic"
	case "fan_mode_stat_t":
		return "fan_mode_state_topic"
	case "fanspd_t":
		return "fan_speed_topic"
	case "fx_cmd_t":
		return "effect_command_topic"
	case "fx_stat_t":
		return "effect_state_topic"
	case "hold_cmd_t":
		return "hold_command_topic"
	case "hold_stat_t":
		return "hold_state_topic"
	case "hs_cmd_t":
		return "hs_command_topic"
	case "hs_stat_t":
		return "hs_state_topic"
	case "hum_cmd_t":
		return "target_humidity_command_topic"
	case "hum_stat_t":
		return "target_humidity_state_topic"
	case "img_t":
		return "image_topic"
	case "json_attr_t":
		return "json_attributes_topic"
	case "l_ver_t":
		return "latest_version_topic"
	case "lrst_t":
		return "last_reset_topic"
	case "mode_cmd_t":
		return "mode_command_topic"
	case "mode_stat_t":
		return "mode_state_topic"
	case "osc_cmd_t":
		return "oscillation_command_topic"
	case "osc_stat_t":
		return "oscillation_state_topic"
	case "pause_cmd_t":
		return "pause_command_topic"
	case "pct_cmd_t":
		return "percentage_command_topic"
	case "pct_stat_t":
		return "percentage_state_topic"
	}
	return topicKeyRest(k)
}

func topicKeyRest(k []byte) string {
	switch string(k) {
	case "pos_t":
		return "position_topic"
	case "pow_cmd_t":
		return "power_command_topic"
	case "pow_stat_t":
		return "power_state_topic"
	case "pr_mode_cmd_t":
		return "preset_mode_command_topic"
	case "pr_mode_stat_t":
		return "preset_mode_state_topic"
	case "rgb_cmd_t":
		return "rgb_command_topic"
	case "rgb_stat_t":
		return "rgb_state_topic"
	case "rgbw_cmd_t":
		return "rgbw_command_topic"
	case "rgbw_stat_t":
		return "rgbw_state_topic"
	case "rgbww_cmd_t":
		return "rgbww_command_topic"
	case "rgbww_stat_t":
		return "rgbww_state_topic"
	case "send_cmd_t":
		return "send_command_topic"
	case "set_fan_spd_t":
		return "set_fan_speed_topic"
	case "set_pos_t":
		return "set_position_topic"
	case "spd_cmd_t":
		return "speed_command_topic"
	case "spd_stat_t":
		return "speed_state_topic"
	case "strt_mow_cmd_t":
		return "start_mowing_command_topic"
	case "swing_mode_cmd_t":
		return "swing_mode_command_topic"
	case "swing_mode_stat_t":
		return "swing_mode_state_topic"
	case "swing_h_mode_cmd_t":
		return "swing_horizontal_mode_command_topic"
	case "swing_h_mode_stat_t":
		return "swing_horizontal_mode_state_topic"
	case "temp_cmd_t":
		return "temperature_command_topic"
	case "temp_hi_cmd_t":
		return "temperature_high_command_topic"
	case "temp_hi_stat_t":
		return "temperature_high_state_topic"
	case "temp_lo_cmd_t":
		return "temperature_low_command_topic"
	case "temp_lo_stat_t":
		return "temperature_low_state_topic"
	case "temp_stat_t":
		return "temperature_state_topic"
	case "tilt_cmd_t":
		return "tilt_command_topic"
	case "tilt_status_t":
		return "tilt_status_topic"
	case "url_t":
		return "url_topic"
	case "whit_cmd_t":
		return "white_command_topic"
	case "whit_val_cmd_t":
		return "white_value_command_topic"
	case "whit_val_stat_t":
		return "white_value_state_topic"
	case "xy_cmd_t":
		return "xy_command_topic"
	case "xy_stat_t":
		return "xy_state_topic"
	default:
		return ""
	}
}
