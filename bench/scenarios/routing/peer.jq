.route = ({
  syslog_app1: "system", syslog_app2: "system", syslog_app3: "legacy", sqlserverlog: "databases", edilog: "partners",
  applog: "services", nginx_access: "web", nginx_error: "web_errors", audit: "compliance"
}[.index_type] // "rest")
| .urgency = (
  if .short_message == "FATAL" then 4
  elif .short_message == "ERROR" and .type == "audit" then 3
  elif .short_message == "ERROR" then 2
  elif .abool == true and .aint > 35 then 1
  else 0 end
)
