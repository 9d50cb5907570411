// Written by scripts/requirements.ts from docs/interface.md.
import type { Requirement } from '../specification.ts'

// oxfmt-ignore
export const mcpServers = {
  'mcp/tools/registered': { section: '16 MCP servers', says: 'Tools are registered as `mcp__<server>__<tool>` with their full input schemas.' },
  'mcp/tools/called': { section: '16 MCP servers', says: 'The model calls them by that name, with structured arguments.' },
  'mcp/discovery/limit': { section: '16 MCP servers', says: 'Discovery has 15 seconds per URL server.' },
  'mcp/discovery/waits': { section: '16 MCP servers', says: 'The first model request of a turn waits until each server whose tools are not known has listed them or failed, all servers at once. Tools that are known are offered at once, while their server is connected again.' },
  'mcp/discovery/told': { section: '16 MCP servers', says: 'A server that fails, or is late, is told of by `session.error` before that request; the turn goes on without its tools.' },
  'mcp/discovery/odd-entries': { section: '16 MCP servers', says: 'Each entry of a list of tools is read by itself: null counts as absent, a part that a tool can do without is dropped, and what cannot be used is left out. One `session.error` names what was left out of a server\'s list.' },
  'mcp/discovery/no-tools': { section: '16 MCP servers', says: 'A server that announces no tools and lists none is told of by `session.error`.' },
  'mcp/results/odd-blocks': { section: '16 MCP servers', says: 'A result is read block by block. What cannot be shown is named in its place, and the texts beside it stay.' },
  'mcp/calls/ended': { section: '16 MCP servers', says: 'A request whose answer has ended without it is an error at once, as is an answer by 202.' },
  'mcp/streams/paced': { section: '16 MCP servers', says: 'A stream that a server has ended is opened again after 1 to 30 seconds, whatever `retry` it names, and after a change of its tools they are listed once a second at most.' },
  'mcp/streams/replies': { section: '16 MCP servers', says: 'A server gets 16 replies a second to what it asks, each within 10 seconds; other requests of it have none.' },
  'mcp/calls/new-session': { section: '16 MCP servers', says: 'A call with a session id that is refused by its HTTP status ends the session: the next call begins a new one. After 400 and 404 the call itself is made again, once.' },
  'mcp/stdio/refused': { section: '16 MCP servers', says: 'Harnesses that run in the service need `url`, and refuse a declaration that has `stdio` alone, saying so.' },
  'mcp/stdio/worker-only': { section: '16 MCP servers', says: 'A `stdio` server runs only where an external worker, or a harness in the sandbox, owns the process and its transport.' },
  'mcp/stdio/ready': { section: '16 MCP servers', says: 'The child of a `stdio` declaration listens on 127.0.0.1 at its port and has `ready_timeout_ms` to do so.' },
  'mcp/stdio/waits': { section: '16 MCP servers', says: 'On a `self_hosted` environment a server without `url` is its worker\'s: a turn asks its model when the worker has said which tools there are. While nobody has the session it waits.' },
  'mcp/stdio/tools': { section: '16 MCP servers', says: 'These tools have the names, schemas and policies of any server\'s; their calls are `agent.tool_use`, which the worker answers by `user.tool_result`.' },
  'mcp/stdio/policies': { section: '16 MCP servers', says: 'A call that needs a person\'s consent waits for it before the worker runs it, and is closed here when it is denied.' },
  'mcp/stdio/reported': { section: '16 MCP servers', says: '`POST /v1/ext/stdio-servers/{session_id}` is how a worker says it: `{servers: [{name, tools, error}]}`, all of the session\'s each time. `tools` is a list of `{name, description?, input_schema}`, 500 at most, or null where there are none to call; `error` is text or null. 1 MiB in all.' },
  'mcp/stdio/failed': { section: '16 MCP servers', says: 'What is not there is a `session.error` at the beginning of each turn, which goes on without it; what fails within a turn is told in it.' },
  'mcp/stdio/overdue': { section: '16 MCP servers', says: 'A claim that has said nothing for the longest `ready_timeout_ms` and 30 seconds is not waited for any longer.' },
  'mcp/stdio/claim-only': { section: '16 MCP servers', says: 'Only the claim that stands may say it, and of its own session.' },
  'mcp/auth/none': { section: '16 MCP servers', says: 'none – no inline token and no matching credential' },
  'mcp/auth/inline': { section: '16 MCP servers', says: 'inline bearer – `authorization_token` of the declaration, which comes before a vault' },
  'mcp/auth/static-bearer': { section: '16 MCP servers', says: 'static bearer of a vault – a `static_bearer` credential whose `mcp_server_url` has this host' },
  'mcp/auth/oauth': { section: '16 MCP servers', says: 'OAuth of a vault – an `mcp_oauth` credential, refreshed after 401, and after 403 where an upstream says that for expiry' },
  'mcp/auth/compare-and-set': { section: '16 MCP servers', says: 'A refreshed token is written by compare-and-set, and one retry follows.' },
  'mcp/auth/outside-sandbox': { section: '16 MCP servers', says: 'In none of the four modes does a credential enter the sandbox.' },
} satisfies Record<string, Requirement>
