/** The egress of one session, over one `OutboundContext`. `revoke` ends all of it. */
import { join } from 'node:path'
import type { Authority } from '@steward/gate/authority.ts'
import { openGate, socketlessGate } from '@steward/gate/gate.ts'
import type { Gate, SocketlessGate } from '@steward/gate/gate.ts'
import type { GateRefusal } from '@steward/gate/outbound.ts'
import { RequestRefused } from '@steward/gate/outbound.ts'
import type { TurnNotice } from '@steward/harness/turn.ts'
import type { Share } from '../../../ground/core/fairness/share.ts'
import { knownClis } from '../../../resources/vaults/clis.ts'
import type { CredentialRow } from '../../../resources/vaults/credentials.ts'
import type { CommandRow } from '../policy/credential.ts'
import { isVariable, secretsOfCommand, findUnreachableHosts } from '../policy/credential.ts'
import type { OutboundContext } from '../inject/context.ts'
import type { Forward, OutboundCall } from '../inject/forward.ts'
import type { OutboundFetch } from './fetch.ts'
import { fetchOver } from './fetch.ts'
import type { OwnerDeps } from './owner.ts'
import { gateOwner } from './owner.ts'
import type { CredentialOpener } from '../inject/open-credentials.ts'
import { UnreadableSecretError } from '../inject/open-credentials.ts'
import { refusalError } from '../policy/rules.ts'
import { derivePlaceholder } from '../inject/placeholder.ts'

export type SessionDeps = OwnerDeps & {
  open: CredentialOpener['all']
  /** SECRET: never logged. */
  placeholderKey: Buffer
  authority: Authority
  /** Resolves with the path of the PEM bundle that sandboxes trust. */
  certificates: () => Promise<string>
  /** The tenants' shares of the connections from sandboxes to gates. */
  connections: Share
  /** Largest number of connections of one sandbox. */
  mostConnections: number
}

/** The target of refusals that concern no single call; every refusal needs a host. */
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
      if (error instanceof RequestRefused) context.note(error.refusal)
      throw error
    }
  }

type ReachedServer = {
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
  /** Placeholders by variable name. */
  env: Record<string, string>
  close(): Promise<void>
}

/** `hosts`: those of its hosts that cannot be reached. */
type UnreachableCredential = { vault_id: string; credential_id: string; hosts: string[] }

function unreachableOf(
  row: CredentialRow,
  mayReach: (host: string) => boolean,
): UnreachableCredential[] {
  const hosts = isVariable(row) ? findUnreachableHosts(row, mayReach) : []
  return hosts.length > 0 ? [{ vault_id: row.vault_id, credential_id: row.id, hosts }] : []
}

const fetchThrough = (
  forward: Forward,
  context: OutboundContext,
  callOf: (url: URL) => OutboundCall,
): OutboundFetch => fetchOver((request) => forward.forward(request, context, callOf(request.url)))

/** Calls carry the server's inline token, else the credential that matches its URL. */
export function fetchOfServer(
  forward: Forward,
  context: OutboundContext,
  { name, url, authorization_token }: ReachedServer,
): OutboundFetch {
  const named = new URL(url)
  const base = { caller: 'rpc-mcp', server: name, namer: 'tenant' } as const
  // A refusal is a failure of the MCP server here, and is not shown with a command's result.
  // A URL of another origin, named by the server, gets no credential.
  return fetchThrough(forward, context, ({ origin }) =>
    origin === named.origin
      ? { ...base, credentials: 'server', named, inline: authorization_token ?? undefined }
      : { ...base, credentials: 'none' },
  )
}

export type SessionEgress = ReturnType<typeof sessionEgress>

export function sessionEgress(context: OutboundContext, deps: SessionDeps) {
  const { forward, records, profile, open } = deps
  const { tenant, session } = context
  const gates = new Set<Gate>()
  /** The credentials whose placeholders were read last. */
  let placed: CredentialRow[] = []

  const fetching = (callOf: (url: URL) => OutboundCall): OutboundFetch =>
    fetchThrough(forward, context, callOf)

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
    placed = credentials
    const names = credentials.flatMap(({ id, auth }) => {
      const name = variableOf(auth)
      const ref = { tenant, session, credential: id }
      return name ? [[name, derivePlaceholder(deps.placeholderKey, ref)] as const] : []
    })
    // When two vaults set the same variable, the first vault wins: later entries overwrite, so the order is reversed.
    return Object.fromEntries(names.toReversed())
  }

  async function variableFor(row: CommandRow): Promise<[string, string]> {
    try {
      return [row.auth.env_var, (await open(row, session)).token ?? '']
    } catch (error) {
      if (!(error instanceof UnreadableSecretError)) throw error
      throw refusalError(sandbox, 'vault', error.message)
    }
  }

  return {
    /** Calls carry the server's inline token, else the credential that matches its URL. */
    mcpFetch: (server: ReachedServer): OutboundFetch => fetchOfServer(forward, context, server),

    /** The environment's lists decide. `credentials: false`: for web_fetch and web_search. */
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

    /** Reaches the operator's search engine and no other host, through the operator's dialler. */
    searchFetch(): OutboundFetch {
      const call = { caller: 'rpc-outbound', namer: 'operator', credentials: 'none' } as const
      return noting(
        context,
        fetching(({ hostname }) => ({ ...call, server: hostname })),
      )
    },

    /** Placeholders by variable name. Empty when the profile is `disabled`. */
    placeholders,

    /** The variables whose hosts the environment lets nobody reach, as their placeholders were read last. */
    unreachable: () => placed.flatMap((row) => unreachableOf(row, context.rules.mayReach)),

    /** Opens the gate of the sandbox on a socket in `folder`. */
    async openGate(folder: string, uid?: number): Promise<OpenedGate> {
      const env = await placeholders()
      const socket = join(folder, 'egress.sock')
      const certificates = await deps.certificates()
      const own = { path: socket, ...(uid === undefined ? {} : { uid }) }
      const gate = await openGate({ ...behind, ...own })
      gates.add(gate)
      if (context.isRevoked) await gate.close()
      return { socket, certificates, env, close: () => leave(gate) }
    },

    /** A gate for a sandbox on another machine, whose connections the caller passes in. */
    socketlessGate(): SocketlessGate {
      const gate = socketlessGate(behind)
      gates.add(gate)
      if (context.isRevoked) void gate.close()
      return { ...gate, close: () => leave(gate) }
    },

    /** SECRET: never logged. Environment variables for one simple command, given as its words. */
    async commandSecrets(words: readonly string[]): Promise<Record<string, string>> {
      if (profile === 'disabled') return {}
      const { credentials } = await context.readCredentials(sandbox)
      const rows = secretsOfCommand(credentials, words)
      const pairs = await Promise.all(rows.map(variableFor))
      const about = { tenant, session, caller: 'rpc-outbound', ...command } as const
      const uses = rows.map((row) => records.begin(about, row))
      await Promise.all(uses.map(({ durable }) => durable))
      for (const use of uses) use.end({ status: 200, refreshed: false, ms: 0 })
      return Object.fromEntries(pairs.toReversed())
    },

    /** Refusals since the last call. */
    takeRefusals: (): GateRefusal[] => context.takeRefusals(),
    /** Notices since the last call, for the session's log. */
    takeNotices: (): TurnNotice[] => context.takeNotices(),
    /** Call after this process has claimed the session again. */
    renew: (generation: number): void => context.renew(generation),
    /** Call before the sandbox is removed. Refuses every later call and ends open calls. */
    revoke(): void {
      context.revoke()
      for (const gate of gates) void gate.close()
      gates.clear()
    },
  }
}

/** The subject of an audit row for a secret that a command uses, without a network call. */
const command = { server: 'command', host: 'sandbox', method: 'EXEC' } as const

function variableOf(auth: CredentialRow['auth']): string | undefined {
  if (auth.type === 'environment_variable') return auth.secret_name
  return auth.type === 'cap_cli' ? knownClis[auth.cli_id]?.variable : undefined
}
