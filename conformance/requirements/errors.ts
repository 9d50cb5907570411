// Written by scripts/requirements.ts from docs/interface.md.
import type { Requirement } from '../specification.ts'

// oxfmt-ignore
export const errors = {
  'errors/body': { section: '20.1 The body', says: 'Every error that is answered has this body; `details` is there only when it says something.' },
  'errors/message': { section: '20.1 The body', says: 'The message is a sentence for a person, and names what was wrong.' },
  'errors/no-detail': { section: '20.1 The body', says: 'An unforeseen failure is 500 with no detail but the request\'s id.' },
  'errors/should-retry': { section: '20.1 The body', says: 'A deliberate conflict carries `x-should-retry: false`, so that clients do not repeat it.' },
  'errors/type/invalid-request': { section: '20.1 The body', says: '`invalid_request` – 400, 405, 408, 409, 412, 413, 415, 422 – `invalid_request_error`; 408 `timeout_error`; 409 `conflict_error`' },
  'errors/type/unauthorized': { section: '20.1 The body', says: '`unauthorized` – 401 – `authentication_error`' },
  'errors/type/forbidden': { section: '20.1 The body', says: '`forbidden` – 402, 403 – `permission_error`; 402 `billing_error`' },
  'errors/type/not-found': { section: '20.1 The body', says: '`not_found` – 404 – `not_found_error`' },
  'errors/type/rate-limited': { section: '20.1 The body', says: '`rate_limited` – 429 – `rate_limit_error`', deferred: 'later' },
  'errors/type/internal-error': { section: '20.1 The body', says: '`internal_error` – 5xx – `api_error`; 503, 529 `overloaded_error`; 504 `timeout_error`' },
  'errors/case/events-accepted': { section: '20.2 Where to expect what', says: 'events were accepted – 202 without a body (200 in the client dialect)' },
  'errors/case/stale-heartbeat': { section: '20.2 Where to expect what', says: 'a former generation beats after its work was claimed by another – 412' },
  'errors/case/upstream-401': { section: '20.2 Where to expect what', says: 'an upstream says 401 and the refresh fails – that 401' },
  'errors/case/output-name': { section: '20.2 Where to expect what', says: 'a nested name or `..` as an output\'s name – refused' },
  'errors/case/environment-referenced': { section: '20.2 Where to expect what', says: 'an environment is deleted while an agent names it – 409, still there' },
  'errors/case/builtin-skill': { section: '20.2 Where to expect what', says: 'a built-in skill is deleted – refused' },
  'errors/case/bad-card-key': { section: '20.2 Where to expect what', says: 'a model card with a bad key – 400, with the provider\'s words, within 6 seconds' },
  'errors/case/probe-unsupported': { section: '20.2 Where to expect what', says: 'a probe of a provider it does not know – `{ok: null, reason: \'unsupported_provider\'}`, no refusal' },
  'errors/case/speed-unsupported': { section: '20.2 Where to expect what', says: '`speed: fast` where the provider has no fast mode – an explicit unsupported error' },
  'errors/case/stdio-on-host': { section: '20.2 Where to expect what', says: 'a `stdio`-only MCP server on a harness in the service – refused: `url` is required' },
  'errors/case/limited-environment': { section: '20.2 Where to expect what', says: 'a limited environment without `allow_mcp_servers: true` – no MCP server is contacted' },
  'errors/case/no-materializer': { section: '20.2 Where to expect what', says: 'a session with resources and nothing to lay them out – refused before compute is acquired' },
  'errors/case/local-read-write': { section: '20.2 Where to expect what', says: 'a `read_write` store with the `local` provider – refused before anything is laid out' },
  'errors/case/egress-unavailable': { section: '20.2 Where to expect what', says: 'egress is `required` and not there, or its fence is invalid – start or request fails; no direct connection' },
  'errors/case/old-sandbox': { section: '20.2 Where to expect what', says: 'a request from an earlier sandbox after a reclaim – refused, its token\'s expiry notwithstanding' },
  'errors/case/start-failed': { section: '20.2 Where to expect what', says: 'the session cannot be read, or its inputs not laid out – no harness; reclaimable after the lease' },
  'errors/case/corrupt-checkpoint': { section: '20.2 Where to expect what', says: 'a corrupt checkpoint – refused; never an empty workspace instead' },
} satisfies Record<string, Requirement>
