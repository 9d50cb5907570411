/** Settings of calls to the outside: models, search, private addresses, repositories, webhooks. */
import {
  asList,
  choice,
  flag,
  httpUrl,
  mebibyte,
  minuteMs,
  secondMs,
  splitList,
  text,
  wholeNumber,
} from '@steward/base/settings/kinds.ts'
import type { SettingKind } from '@steward/base/settings/setting.ts'
import { maskUrl } from '@steward/base/settings/mask-url.ts'
import { settingsSection, setting } from '@steward/base/settings/setting.ts'
import { readAuthorities } from '../../core/security/authorities.ts'
import { parseRanges, parseTargets } from '../../core/security/dial.ts'
import { parseNoProxy, parseProxyUrl } from '../../core/security/proxies.ts'
import { modelProvidersSchema, parseModelProviders } from '../model-providers.ts'
import { parseHostNames } from '../../core/text/setting-lists.ts'

const keyOf = (title: string) => ({
  secret: true,
  about: `key for ${title} models where a workspace has no model card`,
})

const endpointOf = (title: string) => ({
  hidden: true,
  about: `endpoint to use in place of ${title}'s, with the same API`,
})

const prices: SettingKind<string> = {
  ...text,
  form: 'a path, or a JSON object',
  inFile: { type: 'json', schema: () => ({ type: 'object' }) },
  example: '{ my-model: { input: 3, output: 15 } }',
}

const models = settingsSection('Models', {
  fallbackKeys: {
    anthropic: {
      apiKey: setting('ANTHROPIC_API_KEY', text, keyOf('Anthropic')),
      baseUrl: setting('ANTHROPIC_BASE_URL', httpUrl, endpointOf('Anthropic')),
    },
    openai: {
      apiKey: setting('OPENAI_API_KEY', text, keyOf('OpenAI')),
      baseUrl: setting('OPENAI_BASE_URL', httpUrl, endpointOf('OpenAI')),
    },
    google: {
      apiKey: setting('GEMINI_API_KEY', text, keyOf('Google')),
      baseUrl: setting('GEMINI_BASE_URL', httpUrl, endpointOf('Google')),
    },
  },
  modelProviders: setting(
    'MODEL_PROVIDERS',
    {
      form: 'a JSON object',
      parse: parseModelProviders,
      inFile: { type: 'json', schema: modelProvidersSchema },
      example: '{ bedrock-eu: { type: bedrock, region: eu-central-1 } }',
    },
    {
      secret: true,
      defaultAbout: 'none',
      about: 'clouds and gateways that serve models where a workspace has no model card, as JSON',
      more: 'The server looks for a model here first, in this order. See [Connect your company: clouds](company-clouds.md)',
    },
  ),
  cloudIdentityWorkspaces: setting(
    'CLOUD_IDENTITY_WORKSPACES',
    { form: 'a list of ids of workspaces', parse: splitList, ...asList },
    {
      default: '',
      example: '[wrkspc_01]',
      about: 'workspaces whose model cards may use the identity that this server has at a cloud',
      more: 'Their people can then spend on models in the name of the server. Without this list each workspace brings credentials of its own',
    },
  ),
  modelAnswerMs: setting('MODEL_ANSWER_MINUTES', wholeNumber(1, 1_440, minuteMs), {
    default: '60',
    about:
      "minutes from a request to the end of the model's answer; the server aborts a longer answer",
    more: 'The server does not repeat the request',
  }),
  modelSilenceMs: setting('MODEL_SILENCE_SECONDS', wholeNumber(1, 3_600, secondMs), {
    default: '300',
    about:
      'seconds without anything from a model, a ping included, after which the server asks again',
    more: 'Give a model that reads a long prompt on a slow machine more time',
  }),
  offlineModel: setting('STEWARD_OFFLINE_MODEL', flag, {
    default: 'true',
    about: 'whether the built-in model `offline` exists',
  }),
  offlineThinkMs: setting('STEWARD_OFFLINE_THINK_MS', wholeNumber(0, 60_000), {
    default: '250',
    about: 'milliseconds that the model `offline` thinks before it answers a message',
  }),
  modelPrices: setting('MODEL_PRICES', prices, {
    defaultAbout: 'built-in prices',
    about:
      'prices of models, which are used in place of the built-in ones: path of a JSON file, or the JSON itself',
    more: 'See [Prices and budgets](limits.md#prices-and-budgets)',
  }),
  modelSessionIds: setting('MODEL_SESSION_IDS', flag, {
    default: 'false',
    about:
      'whether providers get the ids of sessions for their prompt caches, in place of names that only this server can join with a session',
  }),
  messagesApi: setting('MESSAGES_API', flag, {
    default: 'false',
    about: 'whether `/v1/messages` answers: programs then ask the models of their workspace',
    more: 'See [Messages](messages.md)',
  }),
  embeddingModel: setting('STEWARD_EMBEDDING_MODEL', text, {
    default: 'none',
    about: 'embedding model that memory stores show when they name none',
  }),
})

const search = settingsSection('Web search', {
  webSearch: {
    apiKey: setting('WEB_SEARCH_API_KEY', text, {
      secret: true,
      about:
        'key of the search provider (Tavily); without it `web_search` answers that it is not set up',
    }),
    baseUrl: setting('WEB_SEARCH_BASE_URL', httpUrl, {
      hidden: true,
      default: 'https://api.tavily.com',
      about: 'endpoint of the search provider, or another one with the same interface',
    }),
  },
})

const egress = settingsSection('Egress', {
  egressAllowPrivate: setting(
    'EGRESS_ALLOW_PRIVATE',
    { form: 'a list of address ranges', parse: parseRanges, ...asList },
    {
      default: '',
      example: '[127.0.0.0/8, 10.1.0.0/16]',
      about:
        'private address ranges of your own endpoints, such as `127.0.0.0/8,10.1.0.0/16`: models of your keys, search, registries, bucket, hint',
    },
  ),
  egressTenantTargets: setting(
    'EGRESS_TENANT_TARGETS',
    { form: 'a list of `host:port` or `range:port`', parse: parseTargets, ...asList },
    {
      default: '',
      example: "[git.internal:443, 10.1.0.0/16:8080, '[fd00::/8]:*']",
      about:
        'private targets that workspaces and their sandboxes may reach, such as `git.internal:443,10.1.0.0/16:8080,[fd00::/8]:*`',
      more: "They hold for model cards, MCP servers, repositories, webhooks, images, `web_fetch` and what sandboxes dial. A host's name allows all addresses that the host resolves to. Leave out the ports of this service, its database and other tenants' machines",
    },
  ),
  egressProfile: setting('EGRESS_PROFILE', choice(['required', 'best_effort', 'disabled']), {
    default: 'required',
    about:
      'when the gate adds credentials to calls of a sandbox: `required` only where the gate is its only way out, `best_effort` always, `disabled` never',
    more: 'With `required` the server does not start where sandboxes have another way out; with `best_effort` it tells each session that there is one',
  }),
  egressConnections: setting('EGRESS_CONNECTIONS', wholeNumber(1, 9_999_999), {
    defaultAbout: 'an eighth of the files that the process may open, at most 16384',
    about: 'connections that sandboxes hold to their gates in one process',
    more: 'Each takes two files. One sandbox has 512 at most, and no more than half of them',
  }),
})

const proxyUrl: SettingKind<URL> = {
  form: 'an http:// or https:// URL of a proxy',
  parse: parseProxyUrl,
  shown: (given) => maskUrl(given.includes('://') ? given : `http://${given}`),
}

const authorities: SettingKind<string[]> = { form: 'a path', parse: readAuthorities }

const proxies = settingsSection('Proxy and authority', {
  outgoing: {
    httpsProxy: setting('HTTPS_PROXY', proxyUrl, {
      secret: true,
      aliases: ['https_proxy'],
      about: 'proxy by which the server and its sandboxes reach the outside, by CONNECT',
      more: 'Such as `http://user:password@proxy.example.com:3128`. See [Proxy and private authority](#proxy-and-private-authority)',
    }),
    httpProxy: setting('HTTP_PROXY', proxyUrl, {
      secret: true,
      aliases: ['http_proxy'],
      about: 'proxy for http:// URLs and port 80, by CONNECT too',
    }),
    noProxy: setting(
      'NO_PROXY',
      { form: 'a list of hosts, addresses and ranges, or *', parse: parseNoProxy, ...asList },
      {
        default: '',
        aliases: ['no_proxy'],
        example: '[.internal.example.com, 10.0.0.0/8]',
        about: 'what is reached past the proxies, such as `.internal.example.com,10.0.0.0/8`',
        more: 'A name stands for itself and all names below it. This machine is always reached past them',
      },
    ),
    resolves: setting('EGRESS_PROXY_RESOLVES', flag, {
      default: 'false',
      about:
        'whether the proxy resolves the names that workspaces and sandboxes give; set true only where the proxy refuses private addresses itself',
      more: 'Else the server resolves and checks each name, and asks the proxy for the address',
    }),
    authorities: setting('NODE_EXTRA_CA_CERTS', authorities, {
      about:
        'path of a PEM file with certificates of your own authorities, which the server trusts besides the public ones',
      more: 'See [Proxy and private authority](#proxy-and-private-authority)',
    }),
  },
})

const agentIdentity = settingsSection('Agent identity', {
  agentIdentityIssuer: setting('AGENT_IDENTITY_ISSUER', httpUrl, {
    defaultAbout: '`PUBLIC_URL`',
    about: '`iss` of the tokens by which agents prove who they are',
    more: 'Servers find the public keys below it. See [Agent identity](agent-identity.md)',
  }),
})

const repositories = settingsSection('Repositories', {
  repositoryHosts: setting(
    'REPOSITORY_HOSTS',
    { form: 'a list of host names', parse: parseHostNames, shown: (given) => given, ...asList },
    {
      hidden: true,
      default: '',
      example: "[github.com, '*.example.com']",
      defaultAbout: 'any host that sessions may dial',
      about: 'hosts to clone repositories of sessions from, such as `github.com,*.example.com`',
    },
  ),
  repositoryBytes: setting('REPOSITORY_MB', wholeNumber(1, 1_000_000, mebibyte), {
    default: '2048',
    about: 'largest fetch of one repository, packed, in MiB',
  }),
})

function signingKey(given: string): string | undefined {
  const base64 = given.replace(/^whsec_/, '')
  const bytes = Buffer.from(base64, 'base64')
  const isWhole = bytes.toString('base64') === base64
  return isWhole && bytes.length >= 24 && bytes.length <= 64 ? given : undefined
}

const signing: SettingKind<string> = {
  form: 'base64 of 24 to 64 bytes, `whsec_` in front or not',
  parse: signingKey,
}

const webhooks = settingsSection('Webhooks', {
  webhooks: {
    /** URL and secret of the hint, both or none: the server sends no unsigned hint. */
    hint: {
      url: setting('PLATFORM_MANAGED_AGENTS_WEBHOOK_URL', httpUrl, {
        hidden: true,
        about:
          'where the server posts a hint when it enqueues work for workers; needs the signing key',
      }),
      secret: setting('PLATFORM_MANAGED_AGENTS_WEBHOOK_SIGNING_KEY', signing, {
        secret: true,
        about: 'signs the hint by Standard Webhooks',
        more: '`echo whsec_$(openssl rand -base64 32)` makes a good one',
      }),
    },
    organization: setting('PLATFORM_MANAGED_AGENTS_ORGANIZATION_ID', text, {
      defaultAbout: "the workspace's id",
      about: '`organization_id` of every webhook',
    }),
  },
})

export const outboundSettings = {
  ...models,
  ...search,
  ...egress,
  ...proxies,
  ...agentIdentity,
  ...repositories,
  ...webhooks,
}
