// Written by scripts/requirements.ts from docs/interface.md.
import type { Requirement } from '../specification.ts'

// oxfmt-ignore
export const mcpServers = {
  'mcp/tools/registered': { section: '16 MCP servers', says: 'Tools are registered as `mcp__<server>__<tool>` with their full input schemas.' },
  'mcp/tools/called': { section: '16 MCP servers', says: 'The model calls them by that name, with structured arguments.' },
  'mcp/discovery/limit': { section: '16 MCP servers', says: 'Discovery has 15 seconds per URL server.' },
  'mcp/stdio/refused': { section: '16 MCP servers', says: 'Harnesses that run in the service need `url`, and refuse a declaration that has `stdio` alone, saying so.' },
  'mcp/stdio/worker-only': { section: '16 MCP servers', says: 'A `stdio` server runs only where an external worker, or a harness in the sandbox, owns the process and its transport.', deferred: 'D' },
  'mcp/stdio/ready': { section: '16 MCP servers', says: 'The child of a `stdio` declaration listens on 127.0.0.1 at its port and has `ready_timeout_ms` to do so.', deferred: 'D' },
  'mcp/auth/none': { section: '16 MCP servers', says: 'none – no inline token and no matching credential' },
  'mcp/auth/inline': { section: '16 MCP servers', says: 'inline bearer – `authorization_token` of the declaration, which comes before a vault' },
  'mcp/auth/static-bearer': { section: '16 MCP servers', says: 'static bearer of a vault – a `static_bearer` credential whose `mcp_server_url` has this host' },
  'mcp/auth/oauth': { section: '16 MCP servers', says: 'OAuth of a vault – an `mcp_oauth` credential, refreshed after 401, and after 403 where an upstream says that for expiry' },
  'mcp/auth/compare-and-set': { section: '16 MCP servers', says: 'A refreshed token is written by compare-and-set, and one retry follows.' },
  'mcp/auth/outside-sandbox': { section: '16 MCP servers', says: 'In none of the four modes does a credential enter the sandbox.' },
} satisfies Record<string, Requirement>
