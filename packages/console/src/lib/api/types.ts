/** Names for what the service answers with. */
import type { components } from './openapi.gen.ts'

type Schemas = components['schemas']

export type Session = Schemas['Session']
export type SessionSummary = Schemas['SessionSummary']
export type ShortSession = Schemas['SessionSummaryWithContext']
export type WaitingOn = NonNullable<SessionSummary['waiting_on']>
export type Overview = Schemas['Overview']
export type SessionEvent = Schemas['SessionEvent']
export type LiveSessionEvent = Schemas['LiveSessionEvent']
export type SessionStatus = Session['status']
export type Agent = Schemas['Agent']
export type AgentCreateBody = Schemas['AgentCreateParams']
export type SessionCreateBody = Schemas['SessionCreateParams']
export type Environment = Schemas['Environment']
export type EnvironmentCreateBody = Schemas['EnvironmentCreateParams']
export type EnvironmentUpdateBody = Schemas['EnvironmentUpdateParams']
export type WorkItem = Schemas['SelfHostedWork']
export type WorkStats = Schemas['SelfHostedWorkQueueStats']
export type Model = Schemas['ModelInfo']
export type ListedSkill = Schemas['Skill']
export type ApiKey = Schemas['ApiKey']
export type ApiKeyWithValue = Schemas['ApiKeyWithValue']
export type ApiKeyCreateBody = Schemas['ApiKeyCreateParams']
/** No key acts as anybody but itself: `principal` is left out. */
export type RevokedKey = Omit<Schemas['OrganizationApiKey'], 'principal'>
export type Member = Schemas['Member']
export type DepartedKey = Schemas['MemberRemoved']['keys'][number]
export type Invitation = Schemas['Invitation']
export type InvitationWithLink = Schemas['InvitationWithLink']
export type InvitationCreateBody = Schemas['InvitationCreateParams']
export type Quota = Schemas['Quota']
/** No limit is one of a model. */
export type WorkspaceRateLimit = Omit<Schemas['WorkspaceRateLimit'], 'models'>
export type SpendLimit = Schemas['SpendLimit']
export type SpendSummary = Schemas['SpendSummary']
export type SignIn = Schemas['SignIn']
export type Workspace = Pick<Schemas['Workspace'], 'id' | 'name' | 'created_at'>
export type Me = Schemas['Me']
export type Role = Me['workspaces'][number]['role']
export type Vault = Schemas['Vault']
export type VaultCredential = Schemas['Credential']
export type CredentialCreateBody = Schemas['CredentialCreateParams']
export type CredentialUpdateBody = Schemas['CredentialUpdateParams']
export type CredentialUse = Schemas['CredentialUse']
export type CredentialChange = Schemas['CredentialChange']
export type CredentialValidation = Schemas['CredentialValidation']
export type MemoryStore = Schemas['MemoryStore']
export type MemoryStoreCreateBody = Schemas['MemoryStoreCreateParams']
export type Memory = Schemas['Memory']
export type MemoryPrefix = Schemas['MemoryPrefix']
export type MemoryCreateBody = Schemas['MemoryCreateParams']
export type MemoryUpdateBody = Schemas['MemoryUpdateParams']
export type MemoryVersion = Schemas['MemoryVersion']
export type MemoryActor = Schemas['Actor']
export type SkillVersion = Schemas['SkillVersion']
export type SkillSource = Extract<ListedSkill['source'], string>
