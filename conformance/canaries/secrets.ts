/** One secret of every kind that the service can hold, and the bodies and settings that carry them. */
import { randomBytes } from 'node:crypto'
import type { Bucket } from '@steward/server/ground/blobs/s3-wire.ts'
import { githubSettings } from '../github.ts'
import { linearSettings } from '../linear.ts'
import type { McpDeclaration } from '../mcp.ts'
import { declareServer } from '../mcp.ts'
import { slackSettings } from '../slack.ts'
import type { Canary } from './canary.ts'
import { canaryOf, newCanary } from './canary.ts'
import { registryHost } from './registry.ts'

export type CanarySecrets = ReturnType<typeof newSecrets>

export function newSecrets() {
  return {
    rootSecret: newCanary('the root secret'),
    previousRootSecret: newCanary('the root secret before'),
    adminKey: newCanary('the initial key'),
    searchKey: newCanary('the key of web_search'),
    modelKey: newCanary('the key of a provider'),
    managerSignIn: newCanary('the secret of the sign-in at a secret manager'),
    managerToken: newCanary('the token of the server at a secret manager'),
    companyBearer: newCanary('static_bearer: a secret of a secret manager'),
    bearer: newCanary('static_bearer'),
    oauth: newCanary('mcp_oauth: access_token'),
    oauthRefresh: newCanary('mcp_oauth: refresh_token'),
    oauthClient: newCanary('mcp_oauth: client_secret'),
    issuedAccess: newCanary('mcp_oauth: issued access_token'),
    issuedRefresh: newCanary('mcp_oauth: issued refresh_token'),
    flat: newCanary('mcp_oauth, flat: access_token'),
    flatRefresh: newCanary('mcp_oauth, flat: refresh_token'),
    posting: newCanary('mcp_oauth, posting: access_token'),
    postingRefresh: newCanary('mcp_oauth, posting: refresh_token'),
    postingClient: newCanary('mcp_oauth, posting: client_secret'),
    basic: newCanary('mcp_oauth, basic: access_token'),
    basicRefresh: newCanary('mcp_oauth, basic: refresh_token'),
    basicClient: newCanary('mcp_oauth, basic: client_secret'),
    cli: newCanary('cap_cli'),
    command: newCanary('command_secret'),
    variable: newCanary('environment_variable'),
    inline: newCanary('authorization_token of an agent'),
    inlineOfSession: newCanary('authorization_token of a session'),
    cardKey: newCanary('api_key of a model card'),
    cardHeader: newCanary('header of a model card'),
    refusedCardKey: newCanary('api_key of a refused model card'),
    cardCredentials: newCanary('credentials of a model card'),
    providerKey: newCanary('the key of a cloud of the operator'),
    repository: newCanary('authorization_token of a repository'),
    refused: newCanary('a secret in a body that is refused'),
    databasePassword: newCanary('the password of the database'),
    busPassword: newCanary('the password of NATS'),
    bucketKey: newCanary('the secret key of the bucket'),
    hintKey: newSigningKey('the key of hints'),
    sessionSecret: newCanary('the secret of session cookies'),
    companyClient: newCanary('the client secret of a company provider'),
    mailPassword: newCanary('the password of the mail server'),
    proxyPassword: newCanary('the password of the proxy'),
    collectorKey: newCanary('the key of the collector'),
    codeHostClient: newCanary('the client secret of the app of a code host'),
    codeHostHook: newCanary('the secret of the deliveries of a code host'),
    trackerClient: newCanary('the client secret of the app of a tracker'),
    trackerHook: newCanary('the secret of the deliveries of a tracker'),
    chatClient: newCanary('the client secret of the app of a chat'),
    chatHook: newCanary('the secret of the deliveries of a chat'),
    chatSocket: canaryOf(
      'the token of the socket of a chat',
      `xapp-${randomBytes(16).toString('hex')}`,
    ),
    agentIdentity: canaryOf('the token of an agent', '', headOfAgentTokens),
    interceptor: { name: 'a private key', secret: '', patterns: [Buffer.from('PRIVATE KEY')] },
  }
}

/** The beginning of every token by which an agent proves who it is: the rest is made when it is sent. */
const headOfAgentTokens = Buffer.from('{"alg":"ES256","typ":"JWT","kid":')
  .toString('base64url')
  .slice(0, 44)

/** The Base64 of hexadecimal digits, so that it is one word. */
function newSigningKey(name: string): Canary {
  const key = Buffer.from(randomBytes(16).toString('hex')).toString('base64')
  return canaryOf(name, `whsec_${key}`, key)
}

export type CanaryContents = ReturnType<typeof newContents>

const newWord = (name: string): Canary => canaryOf(name, randomBytes(16).toString('hex'))

/** Contents that people and agents store in the service. The log of the server must contain none of them. */
export const newContents = () => ({
  skill: newWord('a skill'),
  memory: newWord('a memory'),
  written: newWord('a memory that an agent wrote'),
  output: newWord('an output'),
  rubric: newWord('a rubric'),
  verdict: newWord('what a grader said'),
  build: newWord('what a build said'),
  delivery: newWord('the body of a signed request'),
  instructions: newWord('instructions of a dream'),
  message: newWord('a message to a model'),
})

/** A word that stays visible, which proves that the search works. It is also a label of a hostname. */
export const newControl = () => newWord('the control')

const tokenEndpoint = 'https://auth.example/token'

const oauth = (
  [host, access, refresh]: [host: string, access: Canary, refresh: Canary],
  token_endpoint_auth: object,
) => ({
  type: 'mcp_oauth',
  access_token: access.secret,
  mcp_server_url: `https://${host}/mcp`,
  refresh: {
    client_id: 'a client',
    refresh_token: refresh.secret,
    token_endpoint: tokenEndpoint,
    token_endpoint_auth,
  },
})

export const authsOf = (secrets: CanarySecrets): object[] => [
  {
    type: 'static_bearer',
    token: secrets.bearer.secret,
    mcp_server_url: 'https://mcp.api.example/mcp',
  },
  oauth(['oauth.api.example', secrets.oauth, secrets.oauthRefresh], {
    type: 'client_secret_basic',
    client_secret: secrets.oauthClient.secret,
  }),
  oauth(['oauth-basic.api.example', secrets.basic, secrets.basicRefresh], {
    type: 'client_secret_basic',
    client_secret: secrets.basicClient.secret,
  }),
  oauth(['oauth-posting.api.example', secrets.posting, secrets.postingRefresh], {
    type: 'client_secret_post',
    client_secret: secrets.postingClient.secret,
  }),
  {
    type: 'mcp_oauth',
    access_token: secrets.flat.secret,
    mcp_server_url: 'https://oauth-flat.api.example/mcp',
    refresh_token: secrets.flatRefresh.secret,
    token_endpoint: tokenEndpoint,
  },
  { type: 'cap_cli', cli_id: 'gh', token: secrets.cli.secret },
  { type: 'command_secret', env_var: 'DEPLOY_TOKEN', token: secrets.command.secret },
  {
    type: 'environment_variable',
    secret_name: 'API_TOKEN',
    secret_value: secrets.variable.secret,
    networking: { type: 'limited', allowed_hosts: ['vars.api.example'] },
  },
  {
    type: 'agent_identity',
    audience: 'https://identity.api.example',
    mcp_server_url: 'https://identity.api.example/mcp',
  },
]

/** Hosts that have a credential. */
export const hosts = [
  'mcp.api.example',
  'company.api.example',
  'oauth.api.example',
  'oauth-basic.api.example',
  'oauth-flat.api.example',
  'oauth-posting.api.example',
  'api.github.com',
  'github.com',
  'vars.api.example',
  'identity.api.example',
]

export const serversOf = ({ inline }: CanarySecrets): McpDeclaration[] => [
  declareServer('mcp.api.example', 'told'),
  { ...declareServer('mcp-inline.api.example', 'inline'), authorization_token: inline.secret },
  declareServer('mcp-none.api.example', 'none'),
]

const appsOf = (secrets: CanarySecrets): Record<string, string> => ({
  ...githubSettings('https://code.api.example'),
  INTEGRATIONS_GITHUB_CLIENT_SECRET: secrets.codeHostClient.secret,
  INTEGRATIONS_GITHUB_WEBHOOK_SECRET: secrets.codeHostHook.secret,
  ...linearSettings('https://tracker.api.example'),
  INTEGRATIONS_LINEAR_CLIENT_SECRET: secrets.trackerClient.secret,
  INTEGRATIONS_LINEAR_WEBHOOK_SECRET: secrets.trackerHook.secret,
  ...slackSettings('https://chat.api.example'),
  INTEGRATIONS_SLACK_CLIENT_SECRET: secrets.chatClient.secret,
  INTEGRATIONS_SLACK_SIGNING_SECRET: secrets.chatHook.secret,
  INTEGRATIONS_SLACK_APP_TOKEN: secrets.chatSocket.secret,
})

/** Where the upstream stands for HashiCorp Vault. */
export const managerPath = '/company'

/** A credential whose secret stands in a secret manager. */
export const referringAuth = {
  type: 'static_bearer',
  token: { type: 'secret_reference', manager: 'company', name: 'bearer' },
  mcp_server_url: 'https://company.api.example/mcp',
}

const managersOf = ({ managerSignIn }: CanarySecrets, port: number): string =>
  JSON.stringify({
    company: {
      type: 'vault',
      address: `https://localhost:${port}${managerPath}`,
      auth: { type: 'approle', role_id: 'steward', secret_id: managerSignIn.secret },
      workspaces: { '*': { prefix: '{workspace}/' } },
    },
  })

export const settingsOf = (secrets: CanarySecrets, port: number): Record<string, string> => ({
  ...appsOf(secrets),
  PLATFORM_ROOT_SECRET: secrets.rootSecret.secret,
  PLATFORM_ROOT_SECRET_PREVIOUS: secrets.previousRootSecret.secret,
  API_KEY: secrets.adminKey.secret,
  WEB_SEARCH_API_KEY: secrets.searchKey.secret,
  WEB_SEARCH_BASE_URL: 'https://search.api.example',
  OPENAI_API_KEY: secrets.modelKey.secret,
  SESSION_SIGNING_SECRET: secrets.sessionSecret.secret,
  IDENTITY_PROVIDERS: JSON.stringify({
    company: {
      ...{ issuer: 'https://company.example', audience: 'steward', client_id: 'steward' },
      client_secret: secrets.companyClient.secret,
    },
  }),
  SMTP_URL: `smtp://steward:${encodeURIComponent(secrets.mailPassword.secret)}@localhost:${port}`,
  HTTPS_PROXY: `http://steward:${encodeURIComponent(secrets.proxyPassword.secret)}@localhost:${port}`,
  NO_PROXY: '*',
  MESSAGES_API: 'true',
  OTEL_EXPORTER_OTLP_ENDPOINT: `https://localhost:${port}/collector`,
  OTEL_EXPORTER_OTLP_HEADERS: `x-key=${encodeURIComponent(secrets.collectorKey.secret)}`,
  OTEL_LOGS_EXPORTER: 'otlp',
  OTEL_METRICS_EXPORTER: 'otlp',
  AUDIT_STREAM: 'otlp',
  PLATFORM_MANAGED_AGENTS_WEBHOOK_URL: 'https://hooks.api.example/hint',
  PLATFORM_MANAGED_AGENTS_WEBHOOK_SIGNING_KEY: secrets.hintKey.secret,
  MODEL_PROVIDERS: JSON.stringify({
    canary: {
      ...{ type: 'gateway', models: ['of-a-gateway'], api_key: secrets.providerKey.secret },
      base_url: `https://localhost:${port}/model`,
    },
  }),
  OPENAI_BASE_URL: `https://localhost:${port}/model`,
  PACKAGE_REGISTRIES: `npm=https://${registryHost}/`,
  SECRET_MANAGERS: managersOf(secrets, port),
})

export const bucketOf = ({ bucketKey }: CanarySecrets, { endpoint, bucket, region }: Bucket) =>
  JSON.stringify({
    blobs: {
      ...{ type: 's3', endpoint, bucket, region },
      ...{ access_key_id: 'S3RVER', secret_access_key: bucketKey.secret },
    },
  })

export const cardsOf = (secrets: CanarySecrets, port: number) => {
  const { cardKey, cardHeader, refusedCardKey, cardCredentials } = secrets
  const card = (model_id: string, path: string, api_key: string) => ({
    model_id,
    provider: 'oai-compatible',
    model: 'm',
    base_url: `https://localhost:${port}/model${path}`,
    api_key,
    custom_headers: { 'x-header-key': cardHeader.secret },
  })
  return {
    taken: card('walled', '', cardKey.secret),
    refused: card('refusing', '/refusing', refusedCardKey.secret),
    ofCloud: {
      ...{ model_id: 'clouded', provider: 'bedrock', model: 'of.another-maker' },
      cloud: { region: 'eu-central-1' },
      base_url: `https://localhost:${port}/model`,
      credentials: {
        ...{ type: 'aws_keys', access_key_id: 'AKIACANARY' },
        secret_access_key: cardCredentials.secret,
      },
    },
  }
}
