// Written by scripts/requirements.ts from docs/interface.md.
import type { Requirement } from '../specification.ts'

// oxfmt-ignore
export const identitiesOfACompany = {
  'logins/authorize': { section: '25.4 OAuth', says: 'GET `/oauth/authorize` – the page on which a person who has signed in lets a client act in one workspace; `workspace_id` names it beforehand' },
  'logins/token': { section: '25.4 OAuth', says: 'POST `/v1/oauth/token` – exchanges a grant, sent as a form or as JSON, for `access_token`, `expires_in` and `refresh_token`, with the `organization`, `account` and `workspace` of the login' },
  'logins/device': { section: '25.4 OAuth', says: 'POST `/v1/oauth/device_authorization` – begins the login of a device without a browser (RFC 8628); a person types `user_code` at `/oauth/device`' },
  'logins/revoke': { section: '25.4 OAuth', says: 'POST `/v1/oauth/revoke` – ends the login of a token (RFC 7009); 200 for an unknown token too' },
  'logins/metadata': { section: '25.4 OAuth', says: 'GET `/.well-known/oauth-authorization-server` – the metadata of RFC 8414' },
  'logins/clients': { section: '25.4 OAuth', says: 'Clients are that of the official command line, and those of the setting `OAUTH_CLIENTS`; another `client_id` is `invalid_client`.' },
  'logins/redirects': { section: '25.4 OAuth', says: 'A code goes to a loopback address at any port, to the page `/oauth/code/callback`, which shows it for copying, or to an address that the setting names for the client. For any other address the person sees why, and the browser is sent nowhere.' },
  'logins/pkce': { section: '25.4 OAuth', says: 'A code needs PKCE with `S256`. The answer brings `state` back, and `iss`.' },
  'logins/code-once': { section: '25.4 OAuth', says: 'A code is used once, with its own `redirect_uri` and verifier, within 60 seconds, or within 5 minutes where a person copies it. A second use is refused and ends the login.' },
  'logins/errors': { section: '25.4 OAuth', says: 'Refusals of the token endpoint are those of RFC 6749: `{error, error_description}` with 400, or 401 for `invalid_client`.' },
  'logins/access-token': { section: '25.4 OAuth', says: 'An access token begins with `stw_at_`, is valid for an hour, and is sent as `Authorization: Bearer` only.' },
  'logins/live-role': { section: '25.4 OAuth', says: 'It opens what the role of the person in that one workspace opens at that moment, and no page or call that is for people who have signed in. Another workspace in `anthropic-workspace-id` is 403.' },
  'logins/ends': { section: '25.4 OAuth', says: 'A login ends with the membership of its person, with the archiving of the workspace, and 30 days after its refresh token was last exchanged.' },
  'logins/refresh': { section: '25.4 OAuth', says: 'A refresh token is exchanged once, for the next pair of tokens.' },
  'logins/refresh/repeated': { section: '25.4 OAuth', says: 'An exchange is repeated with the same next refresh token: within a minute, and later while nothing that came with it was used, so that a client whose answer was lost goes on.' },
  'logins/refresh/reuse': { section: '25.4 OAuth', says: 'Any other second use of a refresh token is refused and ends the login.' },
  'logins/hashed': { section: '25.4 OAuth', says: 'Codes and tokens are stored only as hashes.' },
  'logins/listed': { section: '25.4 OAuth', says: 'A login is listed among the API keys (3.2) as one of the `kind` `oauth`. Its person and the admins of the workspace revoke it there; others are answered with 403.' },
  'logins/audited': { section: '25.4 OAuth', says: 'The beginning and the end of each login are in the audit, with its person and its reason.' },
  'logins/official-client': { section: '25.4 OAuth', says: 'A profile of the official client, of the type `user_oauth`, works and renews itself unmodified.' },
  'logins/device/polling': { section: '25.4 OAuth', says: 'A device that asks before the person has decided gets `authorization_pending`, one that asks too often `slow_down` and 5 seconds more to wait, and after 10 minutes `expired_token`.' },
} satisfies Record<string, Requirement>
