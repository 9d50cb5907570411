/** Rules of the operator for all workspaces: what they may name, and how long they keep what they have. */
import { asList, splitList } from '@steward/base/settings/kinds.ts'
import type { SettingKind } from '@steward/base/settings/setting.ts'
import { settingsSection, setting } from '@steward/base/settings/setting.ts'
import type { RetentionDays, RuleKind } from '@steward/protocol/rules.ts'
import { mostRetentionDays, retentionKinds } from '@steward/protocol/rules.ts'
import { matcherOf } from '../../core/rules/patterns.ts'

const patternsOf = (kind: RuleKind): SettingKind<string[]> => ({
  form: 'a list of patterns',
  parse(given) {
    const patterns = splitList(given)
    matcherOf(kind, patterns)
    return patterns
  },
  ...asList,
})

/** Parses `sessions:90,outputs:30`. The message of the error names the wrong part. */
export function parseRetention(text: string): RetentionDays {
  const parts = splitList(text).map((part) => {
    const [, name = '', digits = ''] = /^(\w+):(\d{1,6})$/.exec(part) ?? []
    const kind = retentionKinds.find((each) => each === name)
    const days = Number(digits)
    if (!kind)
      throw new Error(
        `${JSON.stringify(part)} is not kind:days; the kinds are ${retentionKinds.join(', ')}`,
      )
    if (days < 1 || days > mostRetentionDays)
      throw new Error(`${JSON.stringify(part)}: keep for 1 to ${mostRetentionDays} days`)
    return [kind, days] as const
  })
  const twice = parts.find(([kind], at) => parts.findIndex(([other]) => other === kind) !== at)
  if (twice) throw new Error(`${twice[0]} is named twice`)
  return Object.fromEntries(parts)
}

const days: SettingKind<RetentionDays> = {
  form: 'a list of kind:days',
  parse: parseRetention,
  inFile: { type: 'map', between: ':' },
}

const anything = { default: '', defaultAbout: 'everything is allowed' } as const
const page = 'company-rules.md#what-workspaces-may-name'

const rules = settingsSection('Rules', {
  allowed: {
    mcp_servers: setting('ALLOWED_MCP_SERVERS', patternsOf('mcp_servers'), {
      ...anything,
      example: "['*.example.com', 'https://mcp.example.net/team/', 'stdio:files']",
      about: 'MCP servers that agents may name: hosts, beginnings of URLs, and `stdio:NAME`',
      more: `For example \`*.example.com,https://mcp.example.net/team/\`. See [What workspaces may name](${page})`,
    }),
    models: setting('ALLOWED_MODELS', patternsOf('models'), {
      ...anything,
      example: "['anthropic/claude-*', offline]",
      about: 'models that agents may name, at their provider, such as `anthropic/claude-*,offline`',
      more: `See [Models](company-rules.md#models)`,
    }),
    webhooks: setting('ALLOWED_WEBHOOKS', patternsOf('webhooks'), {
      ...anything,
      example: "['*.example.com']",
      about: 'where webhooks of workspaces may go: hosts and beginnings of URLs',
    }),
    images: setting('ALLOWED_IMAGES', patternsOf('images'), {
      ...anything,
      example: "['registry.example.com/team/*']",
      about: 'images that environments may name as `base_image`, with any sandbox provider',
      more: '`SANDBOX_IMAGES` holds beside it',
    }),
  },
  retentionDays: {
    usual: setting('RETENTION_DAYS', days, {
      default: '',
      defaultAbout: 'everything is kept until it is deleted',
      example: "{ sessions: '365', outputs: '90' }",
      about:
        'days that workspaces keep sessions, files, outputs, memory_versions and deliveries, where they say nothing else',
      more: 'For example `sessions:365,outputs:90`. See [How long things are kept](company-rules.md#how-long-things-are-kept)',
    }),
    most: setting('RETENTION_MAX_DAYS', days, {
      default: '',
      defaultAbout: 'a workspace may keep everything',
      example: "{ sessions: '730' }",
      about: 'the most days that a workspace may keep each of them',
    }),
  },
})

export const ruleSettings = { ...rules }
