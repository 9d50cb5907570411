/** Refusals in the words of OAuth. They are values: a unit that refuses may still have something to commit. */

/** RFC 6749 4.1.2.1 and 5.2, RFC 8628 3.5. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'access_denied'
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
  | 'temporarily_unavailable'

export type OAuthRefusal = { refused: OAuthErrorCode; why: string }

export const refuse = (refused: OAuthErrorCode, why: string): OAuthRefusal => ({ refused, why })

export const isRefusal = (value: object): value is OAuthRefusal => 'refused' in value
