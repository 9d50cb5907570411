import type { ReactNode } from 'react'
import type { ListState } from '../lib/list-state.ts'
import { words } from '../lib/words.ts'
import { Button } from './button.tsx'

/** Below a list: what is new, and more of it. */
export const ListFoot = ({ children }: { children: ReactNode }) => (
  <div className="flex justify-center gap-2 px-4 py-3 empty:hidden">{children}</div>
)

/** Asks for more of a list, where there is more. */
export const MoreRows = ({
  list: { more, isLoadingMore },
}: {
  list: Pick<ListState<unknown>, 'more' | 'isLoadingMore'>
}) => (
  <ListFoot>
    {more && (
      <Button onClick={more} isBusy={isLoadingMore}>
        {words.list.more}
      </Button>
    )}
  </ListFoot>
)
