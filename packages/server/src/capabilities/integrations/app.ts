/** An app of this service at a provider, which workspaces there install. */
import type { IntegrationId, PublicationSpec } from '@steward/protocol/integrations.ts'
import type { AppIntegration, FileUploads } from './integration.ts'
import type { Send } from './send.ts'

/** SECRET: never logged. `expiresMs`: from when on a new one is asked for; never, where it is left out. */
export type AppTokens = { access?: string; refresh?: string; expiresMs?: number }

export type InstalledApp = {
  externalId: string
  externalName: string
  botUserId: string | null
  scopes: string[]
  /** To be kept, sealed. */
  tokens: AppTokens | null
}

export type AppToken =
  /** `tokens`: in place of those that were kept. `expiresMs`: from when on another is asked for. */
  | { kind: 'token'; token: string; expiresMs?: number; tokens?: AppTokens }
  | { kind: 'refused' }
  | { kind: 'unreachable'; reason: string }

export type Outside = { send: Send; signal: AbortSignal; nowMs: number }

/** What the adapters of all apps have; each reads the configuration of its own kind out of the publication. */
export type App = {
  id: IntegrationId
  adapter: AppIntegration<PublicationSpec>
  /** Sign deliveries. SECRET: never logged. */
  secrets: readonly string[]
  /** Where people see the provider. */
  url: string
  apiUrl: string
  /** A workspace of the provider has another id with each installation, and is known again by its name. */
  isNewIdEachTime?: boolean
  /** How the addresses of files of messages begin. The token of the app is sent to no other address, which a message could name. */
  filesUrl?: string
  /** Where the provider takes the bytes of files. They are sent without a token. */
  uploadOrigins?: readonly string[]
  /** Is told `begun`. */
  followsWork?: boolean
  /** Left out where files of agents are not sent. */
  uploads?: FileUploads
  /** How calls of agents to the provider carry a token: in a variable for these hosts, and to the provider's MCP server. */
  access: { variable: string; hosts: readonly string[]; mcpServer: string | null }
  /** For the places of the publication, or for one of them. Left out where the provider knows no narrower token. */
  narrowToken?(
    installation: Pick<InstalledApp, 'externalId' | 'externalName'>,
    spec: PublicationSpec,
    outside: Outside,
    repository?: string,
  ): Promise<AppToken>
  /** What the agent is to know of the provider, with the first message of each session. */
  hint?: string
  /** Why a publication of this kind cannot be made from this; undefined where it can. */
  faultOf(spec: PublicationSpec): string | undefined
  /** Where a person installs the app. The provider brings `state` back to `redirect`. */
  installUrl(state: string, redirect: string): string
  /** From the query with which the browser comes back. */
  finish(
    query: URLSearchParams,
    redirect: string,
    outside: Outside,
  ): Promise<InstalledApp | { refused: string }>
  /** Asked for where none is kept, or it ends. No two are asked for at once. */
  newToken(externalId: string, tokens: AppTokens | null, outside: Outside): Promise<AppToken>
  /** Whether the provider has ended the installation. */
  revoke(externalId: string, tokens: AppTokens | null, outside: Outside): Promise<boolean>
}
