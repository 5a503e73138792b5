__all__ = ["jvp_linear_model"]


def jvp_linear_model(params, X, params_dot, X_dot):
    return (
        X @ params["w"] + params["b"],
        X_dot @ params["w"] + X @ params_dot["w"] + params_dot["b"],
    )
