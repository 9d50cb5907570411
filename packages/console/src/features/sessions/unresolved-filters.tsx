/** Stands in place of the list while an address names things that are not known, or not yet. */
import { Button } from '../../components/button.tsx'
import { Row } from '../../components/layout.tsx'
import { Empty, Failure, Skeleton } from '../../components/notices.tsx'
import { requestIdOf } from '../../lib/failures.ts'
import type { ResolvedFilters } from '../../lib/filters.ts'
import { words } from '../../lib/words.ts'

type UnresolvedFiltersProps = {
  resolved: Exclude<ResolvedFilters, { filters: unknown }>
  /** Why the names did not come. */
  error: Error | null
  onChoose: (field: string, id: string) => void
  onRemove: (field: string) => void
}

export function UnresolvedFilters({ resolved, error, onChoose, onRemove }: UnresolvedFiltersProps) {
  if ('isWaiting' in resolved)
    return error ? (
      <Failure message={error.message} requestId={requestIdOf(error)} />
    ) : (
      <Skeleton rows={10} />
    )
  const { problem, field, choices } = resolved
  return (
    <Empty
      action={
        <Row isWrapped>
          {choices.map(({ id, name }) => (
            <Button key={id} onClick={() => onChoose(field, id)}>
              {`${name} ${id}`}
            </Button>
          ))}
          <Button kind="plain" onClick={() => onRemove(field)}>
            {words.sessions.removeFilter(field)}
          </Button>
        </Row>
      }
    >
      {problem}
    </Empty>
  )
}
