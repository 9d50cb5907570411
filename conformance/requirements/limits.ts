// Written by scripts/requirements.ts from docs/interface.md.
import type { Requirement } from '../specification.ts'

// oxfmt-ignore
export const limits = {
  'limits/events-page': { section: '21 Limits', says: 'events in a page – 1 to 1000, 100 when not given' },
  'limits/mcp-servers': { section: '21 Limits', says: 'MCP servers of an agent – 20' },
  'limits/mcp-discovery': { section: '21 Limits', says: 'discovery of an MCP server\'s tools – 15 seconds for each URL server' },
  'limits/stdio-ready-timeout': { section: '21 Limits', says: '`ready_timeout_ms` of a stdio server – 60000 when not given' },
  'limits/vault-credentials': { section: '21 Limits', says: 'credentials of a vault – 20' },
  'limits/card-probe': { section: '21 Limits', says: 'probe of a model card – 6 seconds' },
  'limits/webhook-attempts': { section: '21 Limits', says: 'attempts of a webhook – 3, 5 to 120 seconds apart' },
  'limits/poll-interval': { section: '21 Limits', says: 'pause between a worker\'s polls – 5 seconds when not given' },
  'limits/work-reclaim': { section: '21 Limits', says: 'reclaim of work – `reclaim_older_than_ms` unacknowledged, else the heartbeat lease' },
  'limits/outputs-list': { section: '21 Limits', says: 'list of outputs – `has_more` is always false' },
  'limits/builtin-skills': { section: '21 Limits', says: 'built-in skills – 4' },
  'limits/outbound-body': { section: '21 Limits', says: 'body of an outbound call – streamed, text or binary: more than the original interface promises' },
  'limits/proxy-quota': { section: '21 Limits', says: 'quotas of the proxy – none per credential, none per session' },
  'limits/post-events': { section: '21 Limits', says: 'events in one POST – 1000' },
  'limits/initial-events': { section: '21 Limits', says: 'initial events of a session – 50' },
  'limits/json-body': { section: '21 Limits', says: 'JSON body with content: events, a session, files of a skill – 32 MB, 12,000 values (to the model gateway 50,000)' },
  'limits/record-body': { section: '21 Limits', says: 'JSON body of an agent, an environment, a model card, an update of a session – 4 MiB, 20,000 values' },
  'limits/plain-body': { section: '21 Limits', says: 'any other JSON body – 1 MiB, 10,000 values' },
  'limits/rate/off-by-default': { section: '21 Limits', says: 'Rate limits are off unless the operator sets them.' },
  'limits/rate/per-tenant': { section: '21 Limits', says: 'Rate limits are counted per tenant.', deferred: 'later' },
  'limits/rate/header-limit': { section: '21 Limits', says: '`X-RateLimit-Limit` says how many requests are allowed.', deferred: 'later' },
  'limits/rate/header-remaining': { section: '21 Limits', says: '`X-RateLimit-Remaining` says how many are left.', deferred: 'later' },
  'limits/rate/header-reset': { section: '21 Limits', says: '`X-RateLimit-Reset` says when the count begins anew, in Unix seconds.', deferred: 'later' },
} satisfies Record<string, Requirement>
