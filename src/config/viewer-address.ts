/** Default port of the viewer, fixed so that its address can be a bookmark, and a link in a report. */
export const viewerPort = 8414;

export const viewerAddress = `http://127.0.0.1:${viewerPort}`;
