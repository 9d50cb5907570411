/** Who is calling, and what they may touch. */
export type Principal =
  | { kind: 'workspace'; tenant: string; keyId: string; admin: boolean }
  | { kind: 'environment'; tenant: string; keyId: string; environmentId: string }
  /** A token for one MCP server of one session. */
  | { kind: 'mcp'; tenant: string; sessionId: string; server: string }

/** Kinds of caller that a route names; `anyone` needs no credential. */
export type Caller = 'anyone' | 'workspace' | 'admin' | 'environment' | 'mcp'

/** Finds the caller of a request, or throws `unauthorized`. */
export type Authenticate = (header: (name: string) => string | undefined) => Promise<Principal>

export function mayCall(callers: readonly Caller[], principal: Principal): boolean {
  if (principal.kind !== 'workspace') return callers.includes(principal.kind)
  return callers.includes('workspace') || (principal.admin && callers.includes('admin'))
}
