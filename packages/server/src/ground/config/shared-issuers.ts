/**
 * Issuers whose tokens anybody in the world gets. Attack: a rule that does not name a place of the company's would open the
 * workspace to everybody there, because whoever asks for a token chooses its audience.
 */
type Conditions = {
  subject?: readonly string[] | undefined
  claims?: Readonly<Record<string, readonly string[]>> | undefined
}

/** The claims that name an owner, by issuer. */
const owners: Readonly<Record<string, readonly string[]>> = {
  'https://token.actions.githubusercontent.com': [
    ...['sub', 'repository', 'repository_id', 'repository_owner', 'repository_owner_id'],
    'job_workflow_ref',
  ],
  'https://gitlab.com': ['sub', 'project_path', 'project_id', 'namespace_path', 'namespace_id'],
  'https://agent.buildkite.com': ['sub', 'organization_slug', 'organization_id'],
  'https://app.terraform.io': [
    ...['sub', 'terraform_organization_name', 'terraform_organization_id'],
  ],
  'https://accounts.google.com': ['sub', 'hd', 'email'],
}

/** True when the pattern fixes an owner: `acme/*` does, `acme*` is anybody whose name begins so. */
const isFixed = (pattern: string): boolean => !pattern.includes('*') || /^[^/:*]+[/:]/.test(pattern)

/**
 * The same for a `sub`, such as `repo:acme/app:ref:refs/heads/main`. Attack: code hosts let their users choose other
 * parts of it, so that one without an owner in front, such as `environment:production`, is anybody's.
 */
const isFixedSubject = (pattern: string): boolean =>
  /^(?:repo|repository(?:_owner)?(?:_id)?|project_path|organization):[^/:*]+(?:[/:]|$)/.test(
    pattern,
  ) || /^\d+$/.test(pattern)

/** Why a rule of this issuer is refused. Undefined: it is not. */
export function patternProblem(
  issuer: string,
  { subject, claims = {} }: Conditions,
): string | undefined {
  const names = owners[issuer.replace(/\/$/, '')]
  if (names === undefined) return undefined
  const subjects = [subject, claims['sub']]
  const isNamed =
    subjects.some((patterns) => patterns?.every(isFixedSubject) ?? false) ||
    names.some((name) => name !== 'sub' && (claims[name]?.every(isFixed) ?? false))
  return isNamed
    ? undefined
    : `everybody in the world gets tokens of this issuer: name yours in one of ${names.join(', ')}, without a * before its first / or :`
}
