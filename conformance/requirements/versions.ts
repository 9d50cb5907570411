// Written by scripts/requirements.ts from docs/interface.md.
import type { Requirement } from '../specification.ts'

// oxfmt-ignore
export const versions = {
  'versions/agent-update': { section: '23 Versions', says: 'An agent\'s `version` rises with each effective update.' },
  'versions/session-pins': { section: '23 Versions', says: 'A session\'s agent version is fixed when it is created.' },
  'versions/agent-history': { section: '23 Versions', says: 'All earlier versions of an agent can be read.' },
  'versions/skill': { section: '23 Versions', says: 'A skill names its `latest_version`, and each version can be read.' },
  'versions/beta-required': { section: '23 Versions', says: 'The beta header is required in two places: outputs, with `managed-agents-2026-04-01`, and memory stores, with `agent-memory-2026-07-22`.' },
  'versions/beta-not-required': { section: '23 Versions', says: 'Every other endpoint works without a beta header.' },
  'versions/toolset': { section: '23 Versions', says: 'The built-in toolset is called `agent_toolset_20260401`.' },
  'versions/official-client': { section: '23 Versions', says: 'The official client works unmodified at 1.14.0, and at 0.86.1 as the oldest.' },
  'versions/openai': { section: '23 Versions', says: '`/openai/v1` has requests and event types of its own, those of `client.beta.agents` and `client.beta.vaults` of the npm package `openai`: 7.57.0, and 7.15.0 as the oldest.' },
  'versions/catalog-key-deprecated': { section: '23 Versions', says: '`api_key` of the model list is deprecated, as a remnant of 0.x.' },
} satisfies Record<string, Requirement>
