import type { FailureBody, FailureCode } from "#edges/http/guard/failures";

/** What a server answers where something was not done, as the library tells it. */
export class ApiError extends Error {
  readonly code: FailureCode;
  readonly status: number;
  /** What has not changed, and what is not lost. */
  readonly safe: string;
  /** What to do about it. */
  readonly next: string;
  readonly details: FailureBody["error"]["details"];

  constructor(status: number, { error }: FailureBody) {
    super(error.message);
    this.name = "ApiError";
    this.code = error.code;
    this.status = status;
    this.safe = error.safe;
    this.next = error.next;
    this.details = error.details;
  }
}

/** The failure in a response; something in between may have answered in words of its own. */
export async function errorOf(response: Response): Promise<ApiError> {
  const { status } = response;
  const body = (await response.json().catch(() => null)) as Partial<FailureBody> | null;
  if (typeof body?.error?.code === "string") return new ApiError(status, body as FailureBody);
  return new ApiError(status, {
    error: {
      code: "unexpected",
      message: `The server or a proxy returned status ${status}`,
      safe: "The outcome is unknown. A retry with the same key runs at most once.",
      next: "Try again.",
      details: {},
    },
  });
}
