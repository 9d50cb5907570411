/** The identity providers of a company whose tokens the API takes, and by whose groups people sign in. */
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { parseJsonSetting } from '@steward/protocol/json-setting.ts'
import { roles } from '../core/security/roles.ts'
import { patternProblem } from './shared-issuers.ts'

/** Signatures by a private key that the provider alone has. `none` and HMAC are not among them. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
] as const

const word = z.string().min(1).max(1_000)
const words = z.union([word.transform((one) => [one]), z.array(word).min(1).max(100)])

function isSafeUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || url.username || url.password) return false
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
  return url.protocol === 'https:' || (url.protocol === 'http:' && isHere)
}
/** Attack: whoever answers in the place of the provider would give its keys, so that plain HTTP stays on this machine. */
const address = word.refine(isSafeUrl, 'must be an https URL without credentials')

const Rule = z
  .strictObject({
    groups: words.optional(),
    claims: z.record(word, words).optional(),
    subject: words.optional(),
    workspace: word,
    role: z.enum(roles),
  })
  .refine(
    ({ groups, claims = {}, subject }) => groups || subject || Object.keys(claims).length > 0,
    'needs groups, claims or subject: write {"subject": "*"} for everybody of the provider',
  )
export type IdentityRule = z.output<typeof Rule>

const Provider = z
  .strictObject({
    issuer: address,
    jwks_uri: address.optional(),
    /** A file with a token for requests to `jwks_uri` and the discovery, such as that of a service account. */
    bearer_file: word.optional(),
    name: word.optional(),
    audience: words.optional(),
    algorithms: z
      .array(z.enum(algorithms))
      .min(1)
      .default([...algorithms]),
    subject_claim: word.default('sub'),
    email_claim: word.default('email'),
    name_claim: word.default('name'),
    groups_claim: word.default('groups'),
    userinfo: z.boolean().default(false),
    vouches_for_email: z.boolean().default(false),
    token_minutes: z.int().min(1).max(1_440).default(60),
    sign_in: z.boolean().default(false),
    client_id: word.optional(),
    client_secret: word.optional(),
    client_secret_file: word.optional(),
    scopes: z.array(word).default(['openid', 'email', 'profile', 'offline_access']),
    revoke_keys: z.boolean().default(false),
    rules: z.array(Rule).max(1_000).default([]),
  })
  .superRefine((given, context) => {
    const say = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message })
    if (given.client_secret !== undefined && given.client_secret_file !== undefined)
      say('client_secret', 'give it, or client_secret_file, and not both')
    if (!given.sign_in && given.audience === undefined)
      say('audience', 'is required, unless sign_in is true: what tokens for this service name')
    const hasSecret = given.client_secret ?? given.client_secret_file
    if (given.sign_in && (given.client_id === undefined || hasSecret === undefined))
      say('client_id', 'sign_in needs client_id and client_secret, or client_secret_file')
    for (const [at, rule] of given.rules.entries()) {
      const problem = patternProblem(given.issuer, rule)
      if (problem !== undefined) say(`rules.${at}`, problem)
    }
  })

const Providers = z
  .record(z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, 'takes a-z, 0-9 and -'), Provider)
  .superRefine((given, context) => {
    const seen = new Map<string, string>()
    for (const [id, { issuer }] of Object.entries(given)) {
      const other = seen.get(issuer)
      const message = `is that of ${other} too: write one provider with the rules of both`
      if (other !== undefined) context.addIssue({ code: 'custom', path: [id, 'issuer'], message })
      seen.set(issuer, id)
    }
    for (const id of ['google', 'github', 'oidc', 'credential'])
      if (id in given)
        context.addIssue({ code: 'custom', path: [id], message: 'is taken: give another name' })
  })

/** For editors of settings files. */
export const companyProvidersSchema = () =>
  z.toJSONSchema(Providers, { io: 'input', target: 'draft-7' })

export type CompanyProvider = {
  /** The name in the settings. */
  id: string
  /** The name that people see. */
  name: string
  issuer: string
  jwksUri: string | undefined
  bearerFile: string | undefined
  /** Empty: the provider only signs people in. */
  audiences: readonly string[]
  algorithms: readonly string[]
  claims: Record<'subject' | 'email' | 'name' | 'groups', string>
  /** The groups of a token are asked at the provider, each time that the token is checked. */
  asksUserinfo: boolean
  /** The addresses of people are proved, although their `email_verified` is not there. */
  vouchesForEmail: boolean
  /** A token counts for this long since its `iat`, if it does not expire before. */
  tokenMs: number
  /** Set where people sign in there. */
  client: { id: string; secret: string; scopes: readonly string[] } | undefined
  /** The keys that a person has made end with the membership. */
  revokesKeys: boolean
  rules: readonly IdentityRule[]
}

function clientOf(given: z.output<typeof Provider>): CompanyProvider['client'] {
  if (!given.sign_in || given.client_id === undefined) return undefined
  const { client_secret_file: file } = given
  const secret = file === undefined ? given.client_secret : readFileSync(file, 'utf8').trim()
  if (!secret) throw new Error('client_secret_file: the file is empty')
  return { id: given.client_id, secret, scopes: given.scopes }
}

const providerOf = (id: string, given: z.output<typeof Provider>): CompanyProvider => ({
  id,
  name: given.name ?? id,
  issuer: given.issuer,
  jwksUri: given.jwks_uri,
  bearerFile: given.bearer_file,
  audiences: given.audience ?? [],
  algorithms: given.algorithms,
  claims: {
    subject: given.subject_claim,
    email: given.email_claim,
    name: given.name_claim,
    groups: given.groups_claim,
  },
  asksUserinfo: given.userinfo,
  vouchesForEmail: given.vouches_for_email,
  tokenMs: given.token_minutes * 60_000,
  client: clientOf(given),
  revokesKeys: given.revoke_keys,
  rules: given.rules,
})

export const parseCompanyProviders = (text: string): CompanyProvider[] =>
  Object.entries(parseJsonSetting(Providers, text)).map(([id, given]) => providerOf(id, given))
