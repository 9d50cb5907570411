/** The egress of one session, over one context. `revoke` ends all of it. */
import { join } from 'node:path'
import type { Authority } from '@steward/gate/authority.ts'
import { openGate, socketlessGate } from '@steward/gate/gate.ts'
import type { Gate, SocketlessGate } from '@steward/gate/gate.ts'
import type { Refusal } from '@steward/gate/outbound.ts'
import { Refused } from '@steward/gate/outbound.ts'
import type { Notice } from '@steward/harness/turn.ts'
import type { Share } from '../../../ground/core/share.ts'
import type { Secrets } from '../../../resources/vaults/auth.ts'
import { clis } from '../../../resources/vaults/clis.ts'
import type { CredentialRow } from '../../../resources/vaults/credentials.ts'
import { secretsOfCommand } from '../policy/credential.ts'
import type { OutboundContext } from '../inject/context.ts'
import type { OutboundCall } from '../inject/forward.ts'
import type { OutboundFetch } from './fetch.ts'
import { fetchOver } from './fetch.ts'
import type { OwnerDeps } from './owner.ts'
import { gateOwner } from './owner.ts'
import { placeholderOf } from '../inject/placeholder.ts'

export type SessionDeps = OwnerDeps & {
  open: (row: CredentialRow) => Secrets
  /** SECRET: never logged. */
  placeholderKey: Buffer
  authority: Authority
  /** Path of the bundle that sandboxes trust. */
  certificates: () => Promise<string>
  /** Of the connections that sandboxes hold to their gates. */
  connections: Share
  /** Of one sandbox. */
  mostConnections: number
}

/** Refusals have a host; what concerns no call names the sandbox. */
const sandbox = { host: 'sandbox', port: 0 }
const crowded = {
  ...sandbox,
  reason: 'limit',
  message:
    'this workspace holds as many connections as there is room for; close some, or try again later',
} as const

const noting =
  (context: OutboundContext, fetch: OutboundFetch): OutboundFetch =>
  async (...request) => {
    try {
      return await fetch(...request)
    } catch (error) {
      if (error instanceof Refused) context.note(error.refusal)
      throw error
    }
  }

type McpServer = {
  name: string
  url: string
  /** SECRET: never logged. */
  authorization_token?: string | null
}

type OpenedGate = {
  /** Path of the unix socket. */
  socket: string
  /** Path of a PEM bundle: the public roots and the authority of this process. */
  certificates: string
  /** Placeholders by the names of their variables. */
  env: Record<string, string>
  close(): Promise<void>
}

export type SessionEgress = ReturnType<typeof sessionEgress>

export function sessionEgress(context: OutboundContext, deps: SessionDeps) {
  const { forward, records, profile, open } = deps
  const { tenant, session } = context
  const gates = new Set<Gate>()

  const fetching = (callOf: (url: URL) => OutboundCall): OutboundFetch =>
    fetchOver((request) => forward.forward(request, context, callOf(request.url)))

  function admit(): (() => void) | undefined {
    const giveBack = deps.connections.take(context.tenant)
    if (!giveBack) context.note(crowded)
    return giveBack
  }

  const behind = {
    authority: deps.authority,
    owner: gateOwner(context, deps),
    admit,
    limits: { connections: deps.mostConnections },
  }

  async function leave(gate: Gate): Promise<void> {
    gates.delete(gate)
    await gate.close()
  }

  async function placeholders(): Promise<Record<string, string>> {
    if (profile === 'disabled') return {}
    const { credentials } = await context.readCredentials(sandbox)
    const names = credentials.flatMap(({ id, auth }) => {
      const name = variableOf(auth)
      const place = { tenant, session, credential: id }
      return name ? [[name, placeholderOf(deps.placeholderKey, place)] as const] : []
    })
    // The first vault's wins: it is laid last.
    return Object.fromEntries(names.toReversed())
  }

  return {
    /** With the server's inline token, else the credential of its URL. */
    mcpFetch({ name, url, authorization_token }: McpServer): OutboundFetch {
      const named = new URL(url)
      const base = { caller: 'rpc-mcp', server: name, namer: 'tenant' } as const
      // Refusals are the server's failure, and concern no command.
      // What the server says of other places does not lead its credential there.
      return fetching(({ origin }) =>
        origin === named.origin
          ? { ...base, credentials: 'server', named, inline: authorization_token ?? undefined }
          : { ...base, credentials: 'none' },
      )
    },

    /** Judged by the environment's lists; `credentials: false` for web_fetch and web_search. */
    outboundFetch({ credentials }: { credentials: boolean }): OutboundFetch {
      const has = credentials && profile !== 'disabled'
      const fetch = fetching(({ hostname }) => ({
        caller: 'rpc-outbound',
        server: hostname,
        namer: 'tenant',
        credentials: has ? 'host' : 'none',
      }))
      return noting(context, fetch)
    },

    /** To the operator's search engine, and nowhere else: dialled as the operator's endpoints may be. */
    searchFetch(): OutboundFetch {
      const call = { caller: 'rpc-outbound', namer: 'operator', credentials: 'none' } as const
      return noting(
        context,
        fetching(({ hostname }) => ({ ...call, server: hostname })),
      )
    },

    /** Placeholders by the names of their variables. */
    placeholders,

    /** The gate of the sandbox, on a socket in this folder. */
    async openGate(folder: string, uid?: number): Promise<OpenedGate> {
      const env = await placeholders()
      const socket = join(folder, 'egress.sock')
      const certificates = await deps.certificates()
      const own = { socketPath: socket, ...(uid === undefined ? {} : { uid }) }
      const gate = await openGate({ ...behind, ...own })
      gates.add(gate)
      if (context.isRevoked) await gate.close()
      return { socket, certificates, env, close: () => leave(gate) }
    },

    /** For connections of a sandbox elsewhere, which are brought to it. */
    socketlessGate(): SocketlessGate {
      const gate = socketlessGate(behind)
      gates.add(gate)
      if (context.isRevoked) void gate.close()
      return { ...gate, close: () => leave(gate) }
    },

    /** SECRET: never logged. Variables for one single simple command, given as its words. */
    async commandSecrets(words: readonly string[]): Promise<Record<string, string>> {
      if (profile === 'disabled') return {}
      const { credentials } = await context.readCredentials(sandbox)
      const rows = secretsOfCommand(credentials, words)
      const about = { tenant, session, caller: 'rpc-outbound', ...command } as const
      const uses = rows.map((row) => records.begin(about, row))
      await Promise.all(uses.map(({ durable }) => durable()))
      for (const use of uses) use.end({ status: 200, refreshed: false, ms: 0 })
      const pairs = rows.map((row) => [row.auth.env_var, open(row).token ?? ''])
      return Object.fromEntries(pairs.toReversed()) as Record<string, string>
    },

    /** Refusals since the last call. */
    takeRefusals: (): Refusal[] => context.takeRefusals(),
    /** Notices since the last call, for whoever reads the session's log. */
    takeNotices: (): Notice[] => context.takeNotices(),
    /** After this process has claimed the session anew. */
    renew: (generation: number): void => context.renew(generation),
    /** Before the sandbox is cleaned up: every later call is refused, and open ones end. */
    revoke(): void {
      context.revoke()
      for (const gate of gates) void gate.close()
      gates.clear()
    },
  }
}

/** How the audit names a secret that is used by a command of the sandbox, and not by a call. */
const command = { server: 'command', host: 'sandbox', method: 'EXEC' } as const

function variableOf(auth: CredentialRow['auth']): string | undefined {
  if (auth.type === 'environment_variable') return auth.secret_name
  return auth.type === 'cap_cli' ? clis[auth.cli_id]?.variable : undefined
}
