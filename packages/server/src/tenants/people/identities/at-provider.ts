/** What a provider says of a person who has signed in there, at the sign-in and at each renewal. */
import { z } from 'zod'
import { unauthorized } from '../../../ground/core/errors.ts'
import { askProvider } from './ask-provider.ts'
import type { Claims } from './claims.ts'
import { claimText } from './claims.ts'
import type { OpenProvider } from './provider-keys.ts'
import type { Rights } from './rules.ts'
import { rightsBy } from './rules.ts'
import type { TokenChecks } from './verify-token.ts'
import { verifyToken, withUserinfo } from './verify-token.ts'

/** Tokens of one person. SECRET: never logged. */
export type ProviderTokens = {
  access: string
  id?: string | undefined
  refresh?: string | undefined
}

/** A person at a provider, with what the rules of the settings give. */
export type GroupProof = {
  providerId: string
  /** `sub`, whatever claim names the person here. */
  sub: string
  subject: string
  email: string | undefined
  /** The provider vouches for the address. */
  isEmailVerified: boolean
  name: string
  rights: Rights
  tokens: ProviderTokens
}

/** Sign-in by groups of a company's provider, as a port: its room is on a higher floor. */
/** `isAdmitted`: the groups give a workspace. */
export type AdmittedProof = GroupProof & { isAdmitted: boolean }

export type GroupSignIns = {
  /** Rejects when the provider does not say who the person is. */
  read: (providerId: string, tokens: ProviderTokens) => Promise<AdmittedProof>
  /** Writes what the groups give, before the cookie of the sign-in leaves. */
  begin: (proof: GroupProof, signIn: { person: string; tokenHash: string }) => Promise<void>
}

/** The claims of the ID token, and those of userinfo, which are newer. */
async function claimsOf(
  { provider, keys }: OpenProvider,
  { access, id }: ProviderTokens,
  checks: Omit<TokenChecks, 'keys' | 'audiences'>,
  known: string | undefined,
): Promise<Claims> {
  const { userinfo_endpoint: asksUserinfo } = await keys.discovery()
  const audiences = provider.client ? [provider.client.id] : []
  const claims =
    id === undefined
      ? { sub: known }
      : await verifyToken({ ...provider, asksUserinfo: false }, id, { ...checks, keys, audiences })
  if (asksUserinfo === undefined) return claims
  return withUserinfo({ keys }, access, claims)
}

/**
 * `known`: the `sub` of the sign-in, at a renewal. Throws `unauthorized` or `ProviderRefusal` when the provider takes the
 * person no longer, and any other error when it does not answer as it should.
 */
export async function readAtProvider(
  open: OpenProvider,
  tokens: ProviderTokens,
  checks: Omit<TokenChecks, 'keys' | 'audiences'>,
  known?: string,
): Promise<GroupProof> {
  const { provider } = open
  const claims = await claimsOf(open, tokens, checks, known)
  const sub = claimText(claims, 'sub')
  const subject = claimText(claims, provider.claims.subject)
  if (sub === undefined || subject === undefined || (known !== undefined && sub !== known))
    throw unauthorized('the provider does not say who the person is')
  const email = claimText(claims, provider.claims.email)?.toLowerCase()
  const isVerified = String(claims['email_verified']) === 'true' || provider.vouchesForEmail
  return {
    providerId: provider.id,
    sub,
    subject,
    email,
    isEmailVerified: email !== undefined && isVerified,
    name: claimText(claims, provider.claims.name) ?? email ?? subject,
    rights: rightsBy(provider, claims),
    tokens,
  }
}

const Renewed = z.looseObject({
  access_token: z.string(),
  id_token: z.string().optional(),
  refresh_token: z.string().optional(),
})

/** New tokens by a refresh token. RFC 6749 6 */
export async function renewTokens(
  { provider, keys }: OpenProvider,
  refresh: string,
): Promise<ProviderTokens> {
  const { token_endpoint: url, token_endpoint_auth_methods_supported: ways = [] } =
    await keys.discovery()
  if (url === undefined || !provider.client) throw new Error('the provider has no token_endpoint')
  const { id, secret } = provider.client
  const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refresh })
  const isBasic = ways.includes('client_secret_basic') && !ways.includes('client_secret_post')
  const named = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`
  const headers: Record<string, string> = isBasic
    ? { authorization: `Basic ${Buffer.from(named).toString('base64')}` }
    : {}
  if (!isBasic) {
    form.set('client_id', id)
    form.set('client_secret', secret)
  }
  const renewed = Renewed.parse(await askProvider(url, { headers, form }))
  return {
    access: renewed.access_token,
    id: renewed.id_token,
    refresh: renewed.refresh_token ?? refresh,
  }
}
