import type { Role } from '../../core/security/roles.ts'
import type { Sealed } from '../../core/security/seal.ts'
import { nullable, number, optional, sealedJson, table, text } from '../table.ts'

/** People, their sign-ins and their workspaces. All tables are in the control database. */
export const peopleTables = {
  people: table({
    rows: 'control',
    key: ['id'],
    columns: {
      id: text(),
      /** Mail address in lower case; unique. */
      email: text(),
      /** 1 when the person has proved to read mail at the address. */
      email_verified: number(),
      name: text(),
      /** 1 when the person may create workspaces. */
      operator: number(),
      created_at: text(),
      updated_at: text(),
    },
  }),
  sign_ins: table({
    rows: 'control',
    key: ['id'],
    columns: {
      id: text(),
      person_id: text(),
      /** Hash of the token in the cookie. */
      token_hash: text(),
      /** The workspace that the person chose for requests that name none. */
      workspace_id: nullable(text()),
      ip_address: nullable(text()),
      user_agent: nullable(text()),
      expires_at: text(),
      created_at: text(),
      updated_at: text(),
      /** The company's provider by whose groups the person has signed in. */
      provider_id: optional(nullable(text())),
    },
  }),
  /**
   * A person's way to sign in: a password, or an account at an identity provider. The provider's tokens are not stored.
   */
  sign_in_accounts: table({
    rows: 'control',
    key: ['id'],
    columns: {
      id: text(),
      person_id: text(),
      /** `credential` for a password. */
      provider_id: text(),
      account_id: text(),
      password_hash: nullable(text()),
      created_at: text(),
      updated_at: text(),
    },
  }),
  /** Hashes of codes, links and states that can each be used once. */
  verifications: table({
    rows: 'control',
    key: ['id'],
    columns: {
      id: text(),
      identifier: text(),
      value: text(),
      expires_at: text(),
      created_at: text(),
      updated_at: text(),
    },
  }),
  members: table({
    rows: 'control',
    key: ['tenant_id', 'person_id'],
    columns: {
      tenant_id: text(),
      person_id: text(),
      role: text<Role>(),
      created_at: text(),
      /** When the person has last looked at the workspace. Null: never, as far as is known. */
      looked_ms: nullable(number()),
      /** The company's provider whose groups give the membership. Null: people do. */
      provider_id: optional(nullable(text())),
    },
  }),
  /** Holders of tokens of a company's providers. */
  subjects: table({
    rows: 'control',
    key: ['id'],
    columns: {
      id: text(),
      issuer: text(),
      /** Unique with the issuer. */
      subject: text(),
      provider_id: text(),
      kind: text<'person' | 'service'>(),
      name: nullable(text()),
      email: nullable(text()),
      seen_ms: number(),
      created_at: text(),
    },
  }),
  /** What a provider has given to learn a person's groups anew while the person is signed in. */
  provider_grants: table({
    rows: 'control',
    key: ['tenant_id', 'id'],
    removed: { elsewhere: 'with the sign-ins of its person at the provider' },
    columns: {
      /** Empty: a person may belong to several workspaces. */
      tenant_id: text(),
      id: text(),
      person_id: text(),
      /** Unique with the person. */
      provider_id: text(),
      subject: text(),
      /** Sealed tokens of the provider, by name. */
      sealed_tokens: sealedJson<Partial<Record<'access' | 'refresh', Sealed>>>(),
      /** When the provider last said the person's groups. */
      confirmed_ms: number(),
      /** When the provider is asked next. A process that asks moves it first, so that others do not ask. */
      due_ms: number(),
    },
  }),
  /** Filters of lists under a name. */
  saved_views: table({
    rows: 'control',
    key: ['tenant_id', 'owner_id', 'id'],
    columns: {
      tenant_id: text(),
      /** The person. Empty: the views of the workspace's keys. */
      owner_id: text(),
      id: text(),
      name: text(),
      noun: text<'sessions'>(),
      filters: text(),
      created_at: text(),
    },
  }),
  invitations: table({
    rows: 'control',
    key: ['tenant_id', 'id'],
    columns: {
      /** Empty: the invitation of the deployment's first owner, who owns the first workspace. */
      tenant_id: text(),
      id: text(),
      /** Null: the person who opens the link names an address. */
      email: nullable(text()),
      /** 1 when the link was mailed to the address, so that its use proves the address. */
      mailed: number(),
      role: text<Role>(),
      /** Null once the invitation is accepted. */
      token_hash: nullable(text()),
      /** The person or the key that invited. Null: a command of the operator. */
      invited_by: nullable(text()),
      accepted_by: nullable(text()),
      accepted_at: nullable(text()),
      expires_at: text(),
      created_at: text(),
    },
  }),
}
