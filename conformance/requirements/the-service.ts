// Written by scripts/requirements.ts from docs/interface.md.
import type { Requirement } from '../specification.ts'

// oxfmt-ignore
export const theService = {
  'service/tenants/isolated': { section: '1 The service', says: 'Nothing that belongs to one tenant can be seen, named or changed with another tenant\'s credential.' },
  'service/agents/versioned': { section: '1 The service', says: 'An agent is a versioned description: model, system prompt, tools, skills and MCP servers.' },
  'service/environments/template': { section: '1 The service', says: 'An environment is a template for sandboxes: image, packages, variables and network rules.' },
  'service/sessions/pinned': { section: '1 The service', says: 'A session is one fixed agent version working in one environment.' },
  'service/sandbox/per-session': { section: '1 The service', says: 'Each session works in a sandbox that no other session shares.' },
  'service/log/two-forms': { section: '1 The service', says: 'A turn\'s steps form one ordered log, which the same client can read as JSON pages and as server-sent events.' },
  'service/vaults/kinds': { section: '1 The service', says: 'Credentials for other systems live in vaults: MCP tokens, OAuth tokens, API keys and the tokens of command line programs.' },
  'service/vaults/names-only': { section: '1 The service', says: 'What the agent, its sandbox or a local child process holds are names (tenant, session, server, host), never a credential.' },
  'service/vaults/injected-live': { section: '1 The service', says: 'The service reads a credential when a call is made, adds it to that call, and hands back only the answer.' },
  'service/vaults/model-blind': { section: '1 The service', says: 'The model is shown the upstream\'s answer and nothing of the credential.' },
  'service/paths/contract': { section: '1 The service', says: 'Paths under `/v1/` follow the managed-agents contract of the official client.' },
  'service/paths/extensions': { section: '1 The service', says: 'What this service adds to that contract is found under `/v1/ext/`, apart from the few additional calls on sessions, agents and skills named below.' },
  'service/paths/openai': { section: '1 The service', says: '`/openai/v1` is another surface, with requests and events of its own (24).' },
  'service/workers/claim': { section: '1 The service', says: 'Workers on other machines can take over the sandbox side of a session through the work API.' },
  'http/health': { section: '1.1 Health', says: '`GET /healthz` needs no credential and answers `{ok: true}`.' },
  'http/ready': { section: '1.1 Health', says: '`GET /readyz` needs no credential and answers `{ok, version, database, notifications, blobs}`: 200 where every part is `ok`, else 503, and the part that cannot serve says `away`, `full`, `slow` or `failing`. A server that was told to stop answers 503 with `{ok: false, stopping: true}`.' },
  'http/blobs-away': { section: '1.1 Health', says: 'While the store of files refuses connections, does not answer, or says that it cannot serve, what needs it answers 503 with `retry-after`, within seconds where little is sent. No turn waits longer for it at its end.' },
  'http/metrics': { section: '1.1 Health', says: 'With `METRICS_PORT` set, `GET /metrics` on that port and no other answers Prometheus, without a credential: requests by route, turns, model requests and their tokens, tool calls, places that workspaces share, writing units, webhooks, and the process itself.' },
  'http/metrics/labels': { section: '1.1 Health', says: 'No label of a metric is a value that a caller chooses freely: paths are templates, tools of workspaces are `mcp` or `custom`, and beyond 200 models the others are `other`. No metric names a session or a workspace.' },
  'http/traces': { section: '1.1 Health', says: 'With `OTEL_EXPORTER_OTLP_ENDPOINT` set, each request, each turn, and each model request and tool call within a turn is a span that is sent there; a turn\'s span lies below that of the request that caused it, also where another process runs the turn or takes it over, and a request\'s below that of its `traceparent`.' },
  'http/traces/passed-on': { section: '1.1 Health', says: 'A turn\'s `traceparent` goes to models and MCP servers, and to no sandbox.' },
  'http/traces/apart': { section: '1.1 Health', says: 'No span holds what was said, what a tool was given or found, or a secret. A collector that is away delays nothing; its spans are dropped.' },
  'http/metrics/otlp': { section: '1.1 Health', says: 'With `OTEL_METRICS_EXPORTER=otlp` the metrics of `/metrics` go to the same collector, by the same names and labels.' },
  'http/logs': { section: '1.1 Health', says: 'With `OTEL_LOGS_EXPORTER=otlp` the lines of the log go there too, as they are written: masked, and without contents.' },
  'http/otlp/apart': { section: '1.1 Health', says: 'A collector that refuses or never answers delays nothing and fills no memory: 2,048 records of each kind wait for it at most. What is dropped is counted in `steward_telemetry_records_total`, and told once a minute in the log.' },
  'audit/stream': { section: '1.1 Health', says: 'With `AUDIT_STREAM` each line of every audit chain is sent, in the order of its chain and at least once, to a collector of OpenTelemetry (`otlp`) or to a syslog server by TLS (`syslog+tls://host:6514`). A line is the JSON of the export: its `id`, `tenant_id`, `trail`, `seq`, `previous` and `hash` let a receiver drop what comes twice, and check that nothing is missing.' },
  'audit/stream/kept': { section: '1.1 Health', says: 'A receiver that is away, refuses, or dies within a batch loses nothing while the lines are kept; the stream goes on where it was, also in another process after a kill. One process at a time sends a chain. Syslog has no answers: a batch counts as taken once the server has read the connection to its end and then closes it.' },
  'service/connections': { section: '1.1 Health', says: 'The server opens no connection that [connections.md](connections.md) does not name, and none at all without a setting or something that a workspace has configured.' },
} satisfies Record<string, Requirement>
