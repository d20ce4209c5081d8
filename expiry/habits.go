package expiry

// Habits is what the copies of a broker tell about its own doing with intervals. The zero value has seen nothing.
type Habits struct{}
