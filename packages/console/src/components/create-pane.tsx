/** Beside the form of a new thing: the request, and the button that sends it. */
import type { ComponentProps } from 'react'
import { Button } from './button.tsx'
import { FormBar } from './form-page.tsx'
import { Problem } from './layout.tsx'
import { RequestView } from './request-view.tsx'

type CreatePaneProps = ComponentProps<typeof RequestView> & {
  verb: string
  isBusy: boolean
  offBecause: string | undefined
  problem: string | undefined
  onCreate: () => void
}

export const CreatePane = (props: CreatePaneProps) => {
  const { verb, isBusy, offBecause, problem, onCreate, ...request } = props
  return (
    <>
      <RequestView {...request} />
      <FormBar
        actions={
          <Button kind="primary" isBusy={isBusy} offBecause={offBecause} onClick={onCreate}>
            {verb}
          </Button>
        }
      >
        <Problem text={problem} />
      </FormBar>
    </>
  )
}
