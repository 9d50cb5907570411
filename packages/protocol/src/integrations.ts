/** Integrations: systems outside that send deliveries to agents and are told their answers. */
import { z } from 'zod'
import { exampleIds } from './example-ids.ts'
import { AgentParams } from './multiagent.ts'
import {
  CreatedAt,
  HttpUrl,
  Id,
  Line,
  ListQuery,
  Metadata,
  Timestamp,
  UpdatedAt,
} from './primitives.ts'
import { VaultIds } from './sessions.ts'
import { PermissionPolicy } from './tools.ts'

export const integrationIds = ['github', 'linear', 'slack', 'webhook'] as const
export type IntegrationId = (typeof integrationIds)[number]

const isPointer = (text: string): boolean => /^(?:\/(?:[^~/]|~[01])*)*$/.test(text)
const Pointer = Line.max(512).refine(
  isPointer,
  'must be a JSON pointer, such as /issue/number; ~0 stands for ~, ~1 for /',
)
const Name = Line.min(1).max(512)
const Names = (what: string) => z.array(Name).max(1_000).describe(what)

const WebhookSource = z
  .strictObject({
    mapping: z
      .strictObject({
        scope: Pointer.describe('What names the external thread. Each thread has one session.'),
        author: Pointer.describe('Who asks.'),
        text: Pointer.describe('What is asked.'),
        context: z
          .record(Line.min(1).max(64), Pointer)
          .refine((paths) => Object.keys(paths).length <= 32, 'must have at most 32 labels')
          .default({})
          .describe('Texts that the agent reads as data, by their labels.'),
      })
      .describe('JSON pointers into the body of a delivery.'),
    authors: Names(
      'The only authors whose requests reach the agent, as the body of a delivery spells them.',
    ),
    answer_url: HttpUrl.nullable()
      .default(null)
      .describe(
        'Where answers are posted, signed with the secret of the publication. Null: nowhere.',
      ),
  })
  .meta({ id: 'PublicationWebhook', description: 'How a JSON body becomes a message.' })
export type WebhookSource = z.infer<typeof WebhookSource>

export const wakeKinds = ['failed_checks', 'new_commits', 'changes_requested'] as const
export type WakeKind = (typeof wakeKinds)[number]

const GithubSource = z
  .strictObject({
    repositories: Names('Full names, such as acme/shop. Others are not heard.'),
    authors: Names(
      'Logins of people whose requests reach the agent. Without `access` and `teams`, of the only ones.',
    ).default([]),
    access: z
      .enum(['triage', 'write', 'maintain', 'admin'])
      .nullable()
      .default(null)
      .describe(
        'The least role in the repository with which people call the agent, beside `authors`. Null: roles count for nothing.',
      ),
    teams: Names('Slugs of teams of the organisation whose members call the agent.').default([]),
    labels: Names('Labels that call the agent.').default([]),
    reviewers: Names(
      'Logins of people and slugs of teams. A review that is requested of one of them calls the agent, which answers with a review.',
    ).default([]),
    wakes: z
      .array(z.enum(wakeKinds))
      .max(wakeKinds.length)
      .default([])
      .describe(
        'What wakes the agent on pull requests that it has opened, without a request: checks that fail, commits that others push, and reviews of people who may call it.',
      ),
    checkout: z
      .boolean()
      .default(false)
      .describe(
        'Whether each session has the repository of its issue, with a token of the app for that repository alone. On a pull request it is its head branch.',
      ),
    forks: z
      .enum(['read_only', 'refuse', 'trust'])
      .default('read_only')
      .describe(
        'What happens on a pull request of a fork, whose code is by somebody who cannot write here. `read_only`: its session has no vault, and its token of git only reads. `refuse`: no session begins. `trust`: as on any pull request.',
      ),
    pull_requests: PermissionPolicy.nullable()
      .default(null)
      .describe(
        'Whether the agent has the tool `open_pull_request`, and whether a call of it asks first. Null: it does not have the tool.',
      ),
  })
  .meta({
    id: 'PublicationGithub',
    description:
      'A mention of the app, its assignment, a label or a requested review on an issue or pull request calls the agent.',
  })

const CodeSource = z
  .strictObject({
    installation_id: Id.describe('The installation of the GitHub app that has the repository.'),
    repository: Line.regex(
      /^[\w.-]+\/(?!\.{1,2}$)[\w.-]+$/,
      'must be the full name of one repository, such as acme/shop',
    )
      .max(512)
      .describe(
        'Its full name, such as acme/shop. Each session has it, with a token of the GitHub app for it alone.',
      ),
    pull_requests: PermissionPolicy.nullable()
      .default(null)
      .describe(
        'Whether the agent may push and has the tool `open_pull_request`, and whether a call of it asks first. Null: it only reads.',
      ),
  })
  .meta({
    id: 'PublicationCode',
    description: 'The repository at GitHub that the agent works on when it is called elsewhere.',
  })
export type CodeSource = z.infer<typeof CodeSource>

const LinearSource = z
  .strictObject({
    teams: Names('Keys of teams, such as ENG. Issues of others are not heard.'),
    authors: Names(
      'Email addresses or ids of people whose requests reach the agent. Without `members`, of the only ones.',
    ).default([]),
    members: z
      .enum(['team', 'workspace'])
      .nullable()
      .default(null)
      .describe(
        'Who else calls the agent: members of the team of the issue, or of the workspace. Guests and apps never do.',
      ),
  })
  .meta({
    id: 'PublicationLinear',
    description: 'The delegation of an issue to the app, or a mention of it, calls the agent.',
  })

const SlackSource = z
  .strictObject({
    channels: Names('Ids of channels in which mentions are heard.'),
    authors: Names(
      'Ids of people whose requests reach the agent. Without `members` and `user_groups`, of the only ones.',
    ).default([]),
    members: z
      .boolean()
      .default(false)
      .describe(
        'Whether all members of the workspace call the agent. Guests and programs never do.',
      ),
    user_groups: Names('Ids of user groups whose members call the agent.').default([]),
    direct_messages: z
      .boolean()
      .default(true)
      .describe('Whether direct messages to the app are heard.'),
  })
  .meta({
    id: 'PublicationSlack',
    description: 'A mention of the app, or a direct message to it, calls the agent.',
  })

const AgentWord = Line.regex(
  /^[A-Za-z0-9][\w-]{0,63}$/,
  'must be one word of letters, digits, - and _',
)

const agent = z
  .union([Id, AgentParams])
  .describe(
    'The id of an agent, whose newest version serves each new thread, or an object with a version.',
  )

export const PublicationCreate = z
  .strictObject({
    agent,
    environment_id: Id,
    vault_ids: VaultIds.nullish().describe(
      'Vaults of each session; the first that has a credential wins.',
    ),
    metadata: Metadata.nullish(),
    installation_id: Id.optional().describe('For all integrations but `webhook`.'),
    name: AgentWord.nullish().describe(
      'The word behind a mention that calls this agent, where several agents serve one repository, channel or team: `@steward reviewer …`. Null: it hears mentions that name no other.',
    ),
    tell_refusals: z
      .boolean()
      .nullish()
      .describe(
        'Whether people who may not call the agent are told so, once in a thread. Null: in Linear alone.',
      ),
    follow_ups: z
      .boolean()
      .nullish()
      .describe(
        'Whether people who may call the agent need no mention in a thread that it has joined. Null: not on GitHub, everywhere else.',
      ),
    app_access: z
      .boolean()
      .optional()
      .describe(
        'Whether calls of the agent to the provider carry a token of the app, which the agent does not see.',
      ),
    automations: PermissionPolicy.nullish().describe(
      'Whether the agent has the tool `automations`, by which it works in a thread again on a schedule, and whether a call of it asks first. Null: only where the agent itself has the tool.',
    ),
    code: CodeSource.nullish().describe(
      'A repository for sessions of every integration but `github`, which has `checkout`. Null: they have none.',
    ),
    webhook: WebhookSource.optional().describe('For the integration `webhook`.'),
    github: GithubSource.optional().describe('For the integration `github`.'),
    linear: LinearSource.optional().describe('For the integration `linear`.'),
    slack: SlackSource.optional().describe('For the integration `slack`.'),
  })
  .meta({
    id: 'PublicationCreateParams',
    examples: [
      {
        agent: exampleIds.agent,
        environment_id: exampleIds.environment,
        webhook: {
          mapping: {
            scope: '/issue/number',
            author: '/comment/user',
            text: '/comment/body',
            context: { title: '/issue/title' },
          },
          authors: ['ada'],
          answer_url: 'https://tracker.example.com/answers',
        },
      },
    ],
  })
export type PublicationCreate = z.infer<typeof PublicationCreate>

/** The stored settings of a publication. */
export type PublicationSpec = {
  vault_ids: string[]
  app_access?: boolean | undefined
  name?: string | null | undefined
  tell_refusals?: boolean | null | undefined
  follow_ups?: boolean | null | undefined
  automations?: z.infer<typeof PermissionPolicy> | null | undefined
  code?: CodeSource | null | undefined
  webhook?: WebhookSource | undefined
  github?: Stored<z.infer<typeof GithubSource>, keyof typeof sourceDefaults.github> | undefined
  linear?: Stored<z.infer<typeof LinearSource>, keyof typeof sourceDefaults.linear> | undefined
  slack?: Stored<z.infer<typeof SlackSource>, keyof typeof sourceDefaults.slack> | undefined
}

/** Publications of before lack the fields `New`. */
type Stored<Source, New extends keyof Source> = Omit<Source, New> & Partial<Pick<Source, New>>

/** Fields that publications of before do not have, with their defaults. */
export const sourceDefaults = {
  github: {
    access: null,
    teams: [] as string[],
    forks: 'read_only',
    pull_requests: null,
    wakes: [] as WakeKind[],
  },
  linear: { members: null },
  slack: { members: false, user_groups: [] as string[], direct_messages: true },
} as const

export const publicationStatuses = ['live', 'paused', 'needs_reauth'] as const
export type PublicationStatus = (typeof publicationStatuses)[number]

export const PublicationShown = z
  .object({
    id: z.string(),
    type: z.literal('publication'),
    integration_id: z.enum(integrationIds).describe('The name of the integration.'),
    installation_id: z
      .string()
      .nullable()
      .describe('The installation that it serves; null for `webhook`.'),
    agent: z
      .object({
        type: z.literal('agent'),
        id: z.string(),
        version: z.int().nullable().describe('Null: the newest, for each new thread.'),
      })
      .describe('The agent that serves each new thread.'),
    environment_id: z.string(),
    vault_ids: z
      .array(z.string())
      .describe('Vaults of each session, in the order of their precedence.'),
    app_access: z
      .boolean()
      .describe('Whether calls of the agent to the provider carry a token of the app.'),
    name: z
      .string()
      .nullable()
      .describe('The word behind a mention that calls this agent, or null.'),
    tell_refusals: z
      .boolean()
      .describe('Whether people who may not call the agent are told so, once in a thread.'),
    follow_ups: z
      .boolean()
      .describe('Whether people need no mention in a thread that the agent has joined.'),
    automations: PermissionPolicy.nullable().describe(
      'The policy of the tool `automations` in its sessions. Null: it gives no such tool.',
    ),
    external_workspace: z
      .object({
        id: z.string().describe('What the provider calls the external workspace.'),
        name: z.string(),
      })
      .nullable()
      .describe('The external workspace of the installation; null for `webhook`.'),
    status: z
      .enum(publicationStatuses)
      .describe(
        '`paused`: deliveries are ignored. `needs_reauth`: answers are refused by their receiver; unpause it once that is mended.',
      ),
    delivery_url: z.string().describe('Where deliveries are sent.'),
    code: CodeSource.nullable().describe(
      'The repository of its sessions, for every integration but `github`. Null: they have none.',
    ),
    webhook: WebhookSource.optional(),
    github: GithubSource.optional(),
    linear: LinearSource.optional(),
    slack: SlackSource.optional(),
    metadata: z.record(z.string(), z.string()),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'Publication', description: 'An agent that serves people of a system outside.' })
export type ShownPublication = z.infer<typeof PublicationShown>

export const PublicationCreated = PublicationShown.extend({
  secret: z
    .string()
    .nullable()
    .describe(
      'Signs deliveries and answers, as Standard Webhooks has it. No later answer has it. Null for an integration that is installed.',
    ),
}).meta({ id: 'PublicationCreated', description: 'A new publication, with its secret.' })

export const installationStatuses = ['active', 'needs_reauth', 'revoked'] as const
export type InstallationStatus = (typeof installationStatuses)[number]

export const InstallationShown = z
  .object({
    id: z.string(),
    type: z.literal('installation'),
    integration_id: z.enum(integrationIds).describe('The name of the integration.'),
    workspace_id: z.string().describe('What the provider calls the external workspace.'),
    workspace_name: z.string().describe('The name of the external workspace.'),
    bot_user_id: z
      .string()
      .nullable()
      .describe('What the provider calls the app as a user, or null.'),
    scopes: z.array(z.string()).describe('What the provider lets the app do.'),
    status: z
      .enum(installationStatuses)
      .describe('`needs_reauth`: install the app again. `revoked`: the installation has ended.'),
    installed_at: Timestamp.describe('When the app was installed.'),
  })
  .meta({ id: 'Installation', description: 'An app of this service in an external workspace.' })
export type Installation = z.infer<typeof InstallationShown>

export const InstallStarted = z
  .object({
    type: z.literal('integration_install'),
    url: z.string().describe('Where a person installs the app, once.'),
    expires_at: Timestamp.describe('Until when the URL can be used.'),
  })
  .meta({ id: 'IntegrationInstall', description: 'An installation that was begun.' })

export const Uninstall = z
  .strictObject({
    installation_id: Id.optional().describe(
      'The installation to end. Absent: the only one that has not ended.',
    ),
  })
  .meta({
    id: 'IntegrationUninstallParams',
    examples: [{ installation_id: exampleIds.installation }],
  })

export const Uninstalled = InstallationShown.extend({
  revoked_at_provider: z
    .boolean()
    .describe('False where the provider did not answer so: remove the app there by hand.'),
}).meta({ id: 'UninstalledApp', description: 'An installation that has ended.' })

export const IntegrationShown = z
  .object({
    id: z.enum(integrationIds),
    type: z.literal('integration'),
    display_name: z.string().describe('What people call the system.'),
    configured: z.boolean().describe('Whether the operator has given what it needs.'),
    installations: z.array(InstallationShown).describe('Installations of this workspace.'),
  })
  .meta({ id: 'Integration', description: 'A kind of system outside that agents can serve.' })

export const answerStates = ['waiting', 'working', 'told', 'untold'] as const
export type AnswerState = (typeof answerStates)[number]

const DeliveryAnswer = z
  .object({
    state: z
      .enum(answerStates)
      .describe(
        '`waiting`: the agent has not read the message. `working`: the turn that reads it has not ended. `untold`: the receiver has refused the answer.',
      ),
    url: z.string().nullable().describe('Where the answer stands at the provider, or null.'),
    reason: z
      .string()
      .nullable()
      .describe('Why the receiver has refused the answer, in its own words; or null.'),
  })
  .meta({ id: 'IntegrationDeliveryAnswer', description: 'What became of the answer.' })

export const deliveryStates = ['waiting', 'delivered', 'ignored', 'failed'] as const
export type DeliveryState = (typeof deliveryStates)[number]

export const IntegrationDeliveryShown = z
  .object({
    id: z.string(),
    type: z.literal('integration_delivery'),
    state: z
      .enum(deliveryStates)
      .describe('`ignored`: it called no agent. `failed`: no session could take it.'),
    reason: z
      .string()
      .nullable()
      .describe('Why it was ignored or has failed, with the place in its body.'),
    author: z.string().nullable().describe('Who asked, as the body says it; or null.'),
    scope: z.string().nullable().describe('What names the external thread, or null.'),
    session_id: z.string().nullable().describe('The session that has it.'),
    provider_number: z
      .string()
      .nullable()
      .describe(
        'What the provider calls it on its own page of deliveries, or null. It is not signed.',
      ),
    missing: z
      .array(z.string())
      .describe('What of the context could not be read at the provider, and why.'),
    answer: DeliveryAnswer.nullable().describe('Null for a delivery that calls no agent.'),
    created_at: Timestamp,
  })
  .meta({ id: 'IntegrationDelivery', description: 'What came for a publication. Kept for a week.' })
export type IntegrationDelivery = z.infer<typeof IntegrationDeliveryShown>

export const IntegrationDeliveryQuery = z.object({
  workspace: z
    .string()
    // A request without a workspace has the same answer as one with an unknown workspace.
    .catch('')
    .describe(`The workspace of the publication, such as ${exampleIds.workspace}.`),
})
export const PublicationListQuery = ListQuery
