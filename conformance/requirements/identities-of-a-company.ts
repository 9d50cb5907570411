// Written by scripts/requirements.ts from docs/interface.md.
import type { Requirement } from '../specification.ts'

// oxfmt-ignore
export const identitiesOfACompany = {
  'identity/tokens/transport': { section: '25.1 Tokens of a company\'s identity provider', says: 'A token of a company provider, sent as `Authorization: Bearer`, opens both wires, `/v1` and `/openai/v1`, and no other header carries one.' },
  'identity/tokens/checked': { section: '25.1 Tokens of a company\'s identity provider', says: 'It is a JWT that is signed by a key of the provider. Its `iss` is the provider\'s `issuer`, its `aud` names one of the provider\'s `audience`, and it has `exp` and `iat`. The clocks may differ by 30 seconds.' },
  'identity/tokens/age': { section: '25.1 Tokens of a company\'s identity provider', says: 'A token counts until `exp`, and for no longer than `token_minutes` since its `iat`.' },
  'identity/tokens/algorithms': { section: '25.1 Tokens of a company\'s identity provider', says: 'Only the asymmetric algorithms that the provider lists are taken: neither `none` nor an HMAC.' },
  'identity/tokens/keys': { section: '25.1 Tokens of a company\'s identity provider', says: 'Keys are found by discovery, or at `jwks_uri`. They are asked anew every 10 minutes, and for an unknown key no more than once in 30 seconds, whatever callers send. While a provider does not answer, known keys count for an hour.' },
  'identity/tokens/away': { section: '25.1 Tokens of a company\'s identity provider', says: 'A token that cannot be checked because its provider does not answer is answered with 503, and one that is refused with 401, which says why.' },
  'identity/rules': { section: '25.1 Tokens of a company\'s identity provider', says: 'Rules lead from `groups`, other `claims` and the `subject` to a `role` in a `workspace`, which is named by its id or its name. All conditions of a rule hold together; in each, one pattern matches; `*` stands for any run of characters. The widest of the matching roles holds in each workspace.' },
  'identity/rules/none': { section: '25.1 Tokens of a company\'s identity provider', says: 'A token to which no rule gives a workspace is 403 with the code `not_a_member`; the answer names the claims of the token, and no value.' },
  'identity/rules/shared-issuers': { section: '25.1 Tokens of a company\'s identity provider', says: 'A rule for an issuer whose tokens anybody in the world gets, such as the code hosts\', names an owner in one of its claims, or the server does not start.' },
  'identity/tokens/workspace': { section: '25.1 Tokens of a company\'s identity provider', says: 'Where the rules give several workspaces, `anthropic-workspace-id` or `x-active-tenant` names one, else the answer is 400; a workspace that they do not give is 403.' },
  'identity/tokens/roles': { section: '25.1 Tokens of a company\'s identity provider', says: 'Its role opens what 3.6 says, and nothing that is for people with a cookie alone.' },
  'identity/tokens/remembered': { section: '25.1 Tokens of a company\'s identity provider', says: 'A checked token is remembered for a minute. With `userinfo` its groups are asked at the provider each time that it is checked, and are those of the answer: a group that is gone there counts no longer than a minute. Without, the groups of a token are those of its making.' },
  'identity/tokens/open-answers': { section: '25.1 Tokens of a company\'s identity provider', says: 'What a token has open, a stream or a download, ends within 5 seconds after the token has ended or gives the workspace no longer.' },
  'identity/subjects': { section: '25.1 Tokens of a company\'s identity provider', says: 'Audit, `created_by` and lists name the subject as `{type: \'subject\', id: \'sub_…\', name}`. The id stays the same for an issuer and a `sub`, and the name ends with the issuer.' },
  'identity/tokens/api-keys': { section: '25.1 Tokens of a company\'s identity provider', says: 'A token makes API keys of at most 24 hours: `expires_at` is required.' },
  'reviewer/reads': { section: '25.3 What a reviewer does', says: 'A reviewer reads what a viewer reads.' },
  'reviewer/starts': { section: '25.3 What a reviewer does', says: 'A reviewer starts sessions of stored agents as they are, in stored environments as they are: an agent with overrides, or one in the request, is 403.' },
  'reviewer/answers': { section: '25.3 What a reviewer does', says: 'A reviewer posts `user.message`, `user.tool_confirmation`, `user.custom_tool_result` and `user.interrupt`, by all routes that take them; another event is 403.' },
  'reviewer/nothing-else': { section: '25.3 What a reviewer does', says: 'Every other change is 403, which names the role that it needs.' },
} satisfies Record<string, Requirement>
