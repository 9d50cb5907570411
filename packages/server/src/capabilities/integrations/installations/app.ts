/** An app of this service at a provider. External workspaces install the app. */
import type { IntegrationId, PublicationSpec } from '@steward/protocol/integrations.ts'
import type { AppIntegration, FileUploads, IncomingMessage, Notes } from '../integration.ts'
import type { AuthorCheck, KnownIds, Wake } from '../../../ground/database/tables/integrations.ts'
import type { GitRights, OpenAtProvider, PullRequestHead } from '../code.ts'
import type { ContextSource, GatherContext } from '../context.ts'
import type { Send } from '../answers/send.ts'

/** `expiresMs`: the time from which a new token is needed. Absent: the token does not expire. SECRET: never logged. */
export type AppTokens = { access?: string; refresh?: string; expiresMs?: number }

export type InstalledApp = {
  externalId: string
  externalName: string
  botUserId: string | null
  scopes: string[]
  /** Tokens that are stored sealed. SECRET: never logged. */
  tokens: AppTokens | null
}

/** A publication as its deliveries are read. */
export type ReadPublication = { spec: PublicationSpec; known: KnownIds | null }

/** Reads the deliveries of an app with the configuration that `configOf` finds in a publication. */
export const readWith =
  <Config>(
    { read }: Pick<AppIntegration<Config>, 'read'>,
    configOf: (publication: ReadPublication) => Config,
  ): App['adapter']['read'] =>
  (body) => {
    const incomingFor = read(body)
    return (publication) => incomingFor(configOf(publication))
  }

export type AppToken =
  /** `tokens`: replace the stored tokens. `expiresMs`: the time from which a new token is needed. */
  | { kind: 'token'; token: string; expiresMs?: number; tokens?: AppTokens }
  | { kind: 'refused' }
  | { kind: 'unreachable'; reason: string }

export type ProviderContext = { send: Send; signal: AbortSignal; nowMs: number }

/** A message without a request of a person. */
export type WakeMessage = Pick<IncomingMessage, 'target'> & { wake: Wake }

/** The parts of every app. Each adapter reads its own configuration from the publication. */
export type App = {
  id: IntegrationId
  adapter: AppIntegration<ReadPublication>
  /** Secrets that sign deliveries. SECRET: never logged. */
  secrets: readonly string[]
  /** The URL at which people use the provider. */
  url: string
  apiUrl: string
  /**
   * True when an external workspace gets a new id with each installation. Such a workspace is recognised by its name.
   */
  isNewIdEachTime?: boolean
  /**
   * The beginning of all file addresses of the provider. The app's token is sent to no other address, because a message
   * may name any address.
   */
  filesUrl?: string
  /** Origins that accept the bytes of uploaded files. Uploads carry no token. */
  uploadOrigins?: readonly string[]
  /** Reads what stands around a message. Absent: a delivery has all of it. */
  gather?: GatherContext
  /** Whether the provider says that the author of a delivery may call the agent. */
  mayCall?(source: ContextSource, check: AuthorCheck): Promise<boolean>
  /** The head of the pull request that is the target. Undefined where the provider does not say. */
  headOf?(source: Pick<ContextSource, 'ask'>, target: Notes): Promise<PullRequestHead | undefined>
  /** Absent where agents open no pull requests. */
  openPullRequest?: OpenAtProvider
  /** A line of Markdown that leads from a pull request to the thread with this target. Undefined: no address does. */
  referenceTo?(target: Notes): string | undefined
  /** Why the provider says that what has happened does not wake the agent. Undefined: it does. */
  whyNotWoken?(source: ContextSource, message: WakeMessage): Promise<string | undefined>
  /** True when a refused token may be replaced by a new one. */
  renewsTokens?: boolean
  /** Absent when files of agents are not sent. */
  uploads?: FileUploads
  /** Where agents use the token: in a variable for these hosts, and at the provider's MCP server. */
  access: { variable: string; hosts: readonly string[]; mcpServer: string | null }
  /**
   * Creates a token for calls of agents to the publication's repositories, or for git in one of them. Absent when the
   * provider has no narrower tokens.
   */
  narrowToken?(
    installation: Pick<InstalledApp, 'externalId' | 'externalName'>,
    spec: PublicationSpec,
    provider: ProviderContext,
    git?: GitRights,
  ): Promise<AppToken>
  /** Text about the provider for the agent, sent with the first message of each session. `target`: of its answer. */
  hintFor?(target: Notes): string | undefined
  /** The reason why a publication cannot have this configuration; undefined for a valid one. */
  faultOf(spec: PublicationSpec): string | undefined
  /** The page at which a person installs the app. The provider returns `state` to `redirect`. */
  installUrl(state: string, redirect: string): string
  /** Finishes an installation. `query`: the query of the request with which the browser returns. */
  finish(
    query: URLSearchParams,
    redirect: string,
    provider: ProviderContext,
  ): Promise<InstalledApp | { refused: string }>
  /** Requests a token when none is stored or the stored token ends. Never called twice at once for an installation. */
  newToken(
    externalId: string,
    tokens: AppTokens | null,
    provider: ProviderContext,
  ): Promise<AppToken>
  /** Ends the installation at the provider. Resolves to true when the installation has ended there. */
  revoke(externalId: string, tokens: AppTokens | null, provider: ProviderContext): Promise<boolean>
}
