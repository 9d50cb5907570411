import type { ApiCall } from '../lib/request/api-call.ts'
import { RequestView } from './request-view.tsx'

/** What will be sent, below the fields of a small form. */
export const RequestBox = ({ call }: { call: ApiCall }) => (
  <div className="flex max-h-[240px] min-w-0 flex-col overflow-hidden rounded-panel border">
    <RequestView call={call} />
  </div>
)
